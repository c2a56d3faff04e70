-- What ends a session: run at each start, so that a folder made before has it too.
CREATE TABLE IF NOT EXISTS auth.sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_publication_tables
                  WHERE pubname = 'sluice' AND schemaname = 'auth' AND tablename = 'sessions') THEN
    ALTER PUBLICATION sluice ADD TABLE auth.sessions;
  END IF;
END $$;
