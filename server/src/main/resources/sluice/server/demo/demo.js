// The demo's page: two streams side by side. Row values come from users, so they enter the page as text only.

const ROWS_MAX = 100;
const LOG_MAX = 40;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8000;

const post = async (path, token, body) => {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), cache: "no-store" });
  const answer = await response.json().catch(() => ({ message: `status ${response.status}` }));
  if (!response.ok) throw new Error(answer.message ?? answer.error ?? `status ${response.status}`);
  return answer;
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Resolves when the browser has drawn what was changed before; at once in a hidden tab, which draws nothing.
const drawn = () => document.hidden
  ? Promise.resolve()
  : new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));

// Splits a response into server-sent events: `{ name, data }`, comments left out.
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const field = (prefix) => lines.filter((line) => line.startsWith(prefix))
        .map((line) => line.slice(prefix.length).trimStart()).join("\n");
      const name = field("event:");
      if (name) yield { name, data: JSON.parse(field("data:")) };
    }
  }
}

class Panel {
  constructor(person, people, prefix) {
    this.person = person;
    this.names = new Map(people.map(({ id, name }) => [id, name]));
    this.prefix = prefix;
    this.rows = new Map();
    this.events = 0;
    this.opened = new AbortController();
    this.waiting = null;
    this.streamId = "";
    this.read = new Set();
    this.root = document.getElementById("person").content.firstElementChild.cloneNode(true);
    this.root.dataset.person = person.name;
    const heading = this.part(".name");
    heading.id = `name-${person.name}`;
    heading.textContent = person.name;
    this.root.setAttribute("aria-labelledby", heading.id);
    this.part(".log").setAttribute("aria-label", `Events on ${person.name}'s stream, newest first`);
    this.part(".rows").setAttribute("aria-label", `Rows ${person.name} sees`);
    this.part(".write button").textContent = `Write as ${person.name}`;
    this.part(".write").addEventListener("submit", (event) => this.insert(event));
    this.part(".reopen").addEventListener("click", () => this.reopen());
  }

  part(selector) {
    return this.root.querySelector(selector);
  }

  show(state, text) {
    const element = this.part(".state");
    element.dataset.state = state;
    element.textContent = text;
  }

  say(text, kind = "done") {
    const element = this.part(".message");
    element.dataset.kind = kind;
    element.textContent = text;
  }

  reopen() {
    this.opened.abort();
  }

  // Reads the stream for as long as the page lives, and opens it again whenever it ends.
  async run() {
    let retry = RETRY_FIRST_MS;
    for (;;) {
      this.opened = new AbortController();
      this.show("wait", "connecting");
      try {
        const response = await this.open();
        for await (const event of eventsOf(response)) {
          if (event.name === "ready") retry = RETRY_FIRST_MS;
          const delay = await this.take(event);
          if (delay !== undefined) retry = delay;
        }
        this.show("lost", "stream ended");
      } catch (problem) {
        if (this.opened.signal.aborted) {
          continue;
        }
        this.show("lost", problem.message);
      }
      await pause(retry * (0.75 + Math.random() / 2));
      retry = Math.min(retry * 2, RETRY_MAX_MS);
    }
  }

  async open() {
    const response = await fetch(`${this.prefix}/stream`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.person.token}` },
      body: JSON.stringify({ subscriptions: [{ sub: "notes", shape: { table: "notes" } }] }),
      signal: this.opened.signal,
      cache: "no-store",
    });
    if (!response.ok) {
      const answer = await response.json().catch(() => ({}));
      throw new Error(answer.message ?? `status ${response.status}`);
    }
    return response;
  }

  // Handles one event. Answers how long to wait before connecting again where the server said so.
  async take({ name, data }) {
    switch (name) {
      case "ready": {
        const subscription = data.subscriptions[0];
        this.streamId = data.stream_id;
        this.part(".tier").textContent = subscription.tier ?? "–";
        this.part(".tier").title = subscription.reason ?? "";
        this.show(subscription.ok ? "live" : "lost", subscription.ok ? "live" : subscription.error.message);
        this.log("ready", subscription.ok ? `tier ${subscription.tier}` : subscription.error.code);
        this.reread();
        return undefined;
      }
      case "change":
      case "snapshot_end":
        // Rows being read again come first; what arrives meanwhile is newer or the same.
        if (this.waiting) this.waiting.push({ name, data });
        else this.follow({ name, data });
        return undefined;
      case "warning":
        this.log("warning", data.code);
        return undefined;
      case "error":
        this.log("error", data.code);
        if (data.sub && data.action === "resnapshot") {
          // The page mends it by itself, so it does not take the place of what a write was answered.
          this.resubscribe();
          return undefined;
        }
        this.say(`${data.code}: ${data.message}`, "refused");
        if (data.sub) this.reopenLater();
        return data.retry_after_ms;
      default:
        return undefined;
    }
  }

  // Other rules decide now: what was shown may be too much or too little, so the rows come again, and then changes.
  async resubscribe() {
    const opened = this.opened;
    this.read = new Set();
    try {
      const { results } = await post(`${this.prefix}/subscribe`, this.person.token, {
        stream_id: this.streamId,
        subscriptions: [{ sub: "notes", shape: { table: "notes", initial: "snapshot" } }],
      });
      if (!results[0].ok) throw new Error(results[0].error.message);
      this.part(".tier").textContent = results[0].tier;
      this.part(".tier").title = results[0].reason ?? "";
      this.log("subscribed", `tier ${results[0].tier}`);
    } catch (problem) {
      this.say(problem.message, "refused");
      if (opened === this.opened) this.reopenLater();
    }
  }

  // A row read again, the end of these rows, or a change.
  follow({ name, data }) {
    if (name === "snapshot_end") {
      for (const id of [...this.rows.keys()]) if (!this.read.has(id)) this.remove(id);
      this.log("snapshot", `${data.rows} rows`);
    } else if (data.snapshot) {
      this.read.add(data.record.id);
      this.put(data.record);
    } else this.change(data);
  }

  // The server ended the subscription and kept the stream: a new one asks again.
  async reopenLater() {
    const opened = this.opened;
    await pause(1000);
    if (opened === this.opened) this.reopen();
  }

  async reread() {
    if (this.waiting) return;
    this.waiting = [];
    try {
      const { rows } = await post("/demo/rows", this.person.token, {});
      const ids = new Set(rows.map(({ id }) => id));
      for (const id of [...this.rows.keys()]) if (!ids.has(id)) this.remove(id);
      for (const row of rows) this.put(row);
    } catch (problem) {
      this.say(`rows could not be read: ${problem.message}`, "refused");
    }
    const arrived = this.waiting;
    this.waiting = null;
    for (const event of arrived) this.follow(event);
  }

  async change({ op, record, old, commit_time: commitTime }) {
    const key = (record ?? old).id;
    if (op === "DELETE") this.remove(key);
    else {
      if (old && old.id !== key) this.remove(old.id);
      this.put(record, "fresh");
    }
    this.events += 1;
    this.part(".count").textContent = String(this.events);
    await drawn();
    const delay = `${Math.max(0, Date.now() - Date.parse(commitTime))} ms`;
    this.part(".facts .delay").textContent = delay;
    const element = this.rows.get(key);
    if (element) element.querySelector(".delay").textContent = delay;
    this.log(op, `${key}${record ? ` ${record.title}` : ""}`, delay);
  }

  put(row, mark) {
    let element = this.rows.get(row.id);
    if (!element) {
      element = document.getElementById("row").content.firstElementChild.cloneNode(true);
      element.dataset.id = row.id;
      element.querySelector(".toggle").addEventListener("click", () => this.toggle(row.id));
      element.querySelector(".delete").addEventListener("click", () => this.delete(row.id));
      this.rows.set(row.id, element);
      this.place(element, row.id);
    }
    // An unchanged large value is not sent again: what was shown stays.
    if (row.title !== undefined) element.querySelector(".title").textContent = row.title;
    const title = element.querySelector(".title").textContent;
    const mine = row.owner_id === this.person.id;
    element.querySelector(".meta").textContent = mine ? `note ${row.id}`
      : `note ${row.id} of ${this.names.get(row.owner_id) ?? "another user"}`;
    element.classList.toggle("done", row.done);
    element.querySelector(".toggle").textContent = row.done ? "Mark not done" : "Mark done";
    element.querySelector(".toggle").setAttribute("aria-label", `Mark “${title}” ${row.done ? "not done" : "done"}`);
    element.querySelector(".delete").setAttribute("aria-label", `Delete “${title}”`);
    element.classList.remove("fresh");
    if (mark) {
      void element.offsetWidth;
      element.classList.add(mark);
    }
    if (this.rows.size > ROWS_MAX) this.remove(Math.min(...this.rows.keys()));
  }

  // Newest first.
  place(element, id) {
    const list = this.part(".rows");
    const after = [...list.children].find((other) => Number(other.dataset.id) < id);
    list.insertBefore(element, after ?? null);
  }

  remove(id) {
    this.rows.get(id)?.remove();
    this.rows.delete(id);
  }

  log(what, which, delay = "") {
    const line = document.createElement("li");
    const cells = { time: new Date().toLocaleTimeString([], { hour12: false }), what, which, delay };
    for (const [name, text] of Object.entries(cells)) {
      const cell = document.createElement("span");
      cell.className = name;
      cell.textContent = text;
      line.append(cell);
    }
    const list = this.part(".log");
    list.prepend(line);
    while (list.children.length > LOG_MAX) list.lastElementChild.remove();
  }

  async insert(event) {
    event.preventDefault();
    const form = event.target;
    await this.write({ action: "insert", title: form.title.value, done: form.done.checked });
    form.title.value = "";
  }

  toggle(id) {
    const element = this.rows.get(id);
    const title = element.querySelector(".title").textContent;
    return this.write({ action: "update", id, title, done: !element.classList.contains("done") });
  }

  delete(id) {
    return this.write({ action: "delete", id });
  }

  async write(request) {
    try {
      const { tag } = await post("/demo/write", this.person.token, request);
      const refused = tag.endsWith(" 0");
      this.say(refused ? `${tag}: ${this.person.name} may not change this row` : tag, refused ? "refused" : "done");
    } catch (problem) {
      this.say(`PostgreSQL: ${problem.message}`, "refused");
    }
  }
}

const showPolicy = ({ policy, sql }) => {
  for (const input of document.querySelectorAll("input[name=policy]")) input.checked = input.value === policy;
  document.getElementById("sql").textContent = sql || "-- no policy for reading: nobody sees a note";
};

const start = async () => {
  const { people, prefix } = await post("/demo/session", null, {});
  const panels = people.map((person) => new Panel(person, people, prefix));
  document.getElementById("people").replaceChildren(...panels.map(({ root }) => root));
  for (const panel of panels) panel.run();

  const token = people[0].token;
  showPolicy(await post("/demo/policy", token, {}));
  for (const input of document.querySelectorAll("input[name=policy]")) {
    input.addEventListener("change", async () => {
      try {
        showPolicy(await post("/demo/policy", token, { policy: input.value }));
      } catch (problem) {
        panels[0].say(`the policy was not switched: ${problem.message}`, "refused");
      }
    });
  }
};

start().catch((problem) => {
  const line = document.createElement("p");
  line.className = "plain";
  line.setAttribute("role", "alert");
  line.textContent = `The demo does not answer: ${problem.message}`;
  document.getElementById("people").replaceChildren(line);
});
