-- The demo's database: what an application would bring. Run once, in one transaction.
CREATE ROLE anon NOLOGIN;
CREATE ROLE authenticated NOLOGIN;
CREATE ROLE service_role NOLOGIN BYPASSRLS;
CREATE ROLE sluice_repl LOGIN REPLICATION;
CREATE ROLE sluice_authz LOGIN NOINHERIT;
GRANT anon, authenticated TO sluice_authz;

-- What the token of the caller says, for policies and defaults.
CREATE SCHEMA auth;
CREATE FUNCTION auth.jwt() RETURNS jsonb LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb $$;
CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS
  $$ SELECT (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid $$;
CREATE FUNCTION auth.role() RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role' $$;
GRANT USAGE ON SCHEMA auth TO anon, authenticated, service_role;
GRANT USAGE ON SCHEMA public TO anon, authenticated, service_role;

CREATE TABLE public.notes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_id uuid NOT NULL DEFAULT auth.uid(),
  title text NOT NULL CHECK (length(title) <= 200),
  body text NOT NULL DEFAULT '',
  done boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL DEFAULT now()
);
-- A deleted row is judged by its old tuple, which carries the replica identity: so it holds what the policies read.
CREATE UNIQUE INDEX notes_identity ON public.notes (owner_id, done, id);
ALTER TABLE public.notes REPLICA IDENTITY USING INDEX notes_identity;
ALTER TABLE public.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY notes_read_own ON public.notes FOR SELECT TO authenticated
  USING (owner_id = (SELECT auth.uid()));
CREATE POLICY notes_insert_own ON public.notes FOR INSERT TO authenticated
  WITH CHECK (owner_id = (SELECT auth.uid()));
CREATE POLICY notes_update_own ON public.notes FOR UPDATE TO authenticated
  USING (owner_id = (SELECT auth.uid())) WITH CHECK (owner_id = (SELECT auth.uid()));
CREATE POLICY notes_delete_own ON public.notes FOR DELETE TO authenticated
  USING (owner_id = (SELECT auth.uid()));
GRANT SELECT, INSERT, UPDATE, DELETE ON public.notes TO authenticated, service_role;

CREATE TABLE public.posts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  author_id uuid NOT NULL DEFAULT auth.uid(),
  title text NOT NULL CHECK (length(title) <= 200),
  visibility text NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'public')),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX posts_identity ON public.posts (author_id, visibility, id);
ALTER TABLE public.posts REPLICA IDENTITY USING INDEX posts_identity;
ALTER TABLE public.posts ENABLE ROW LEVEL SECURITY;
CREATE POLICY posts_read ON public.posts FOR SELECT TO anon, authenticated
  USING (visibility = 'public' OR author_id = (SELECT auth.uid()));
CREATE POLICY posts_write_own ON public.posts FOR ALL TO authenticated
  USING (author_id = (SELECT auth.uid())) WITH CHECK (author_id = (SELECT auth.uid()));
GRANT SELECT ON public.posts TO anon;
GRANT SELECT, INSERT, UPDATE, DELETE ON public.posts TO authenticated, service_role;

CREATE PUBLICATION sluice FOR TABLE public.notes, public.posts;
