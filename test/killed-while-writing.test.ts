import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { RunningProgram } from "./running-program.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const LISTENING = /Web server listening on http:\/\/(\S+)/;
const PASSWORD = "correct horse";
const KILLS = 6;
const SEED = Number(process.env["SEED"] ?? 20261121);

/** A server's API, as one who signs in uses it. */
class Client {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(host: string) {
    this.#socket = new WebSocket(`ws://${host}/api/`);
    this.#socket.on("error", () => undefined);
    this.#socket.on("message", (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answer;
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
    this.#socket.on("close", () => {
      for (const give of this.#waiting.values()) give({ isGone: true });
    });
  }

  async signIn(): Promise<void> {
    await new Promise((resolve) => this.#socket.once("open", resolve));
    const credentials = { username: "admin", password: PASSWORD };
    await this.ask("session.signIn", credentials);
  }

  /** Undefined: the server was gone before it said that it is done. @throws what it refuses */
  async ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = await new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      if (this.#socket.readyState !== WebSocket.OPEN) resolve({ isGone: true });
      else
        this.#socket.send(
          JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        );
    });
    if (answer.error !== undefined)
      throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.isGone === true ? undefined : answer.result;
  }

  close(): void {
    this.#socket.terminate();
  }
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly isGone?: boolean;
}

/** What the server has said that it has done. */
interface Acknowledged {
  readonly users: string[];
  readonly tokens: string[];
  readonly servers: string[];
}

/** Changes without a pause, some at a time, until the server is gone. */
async function change(client: Client, run: number, done: Acknowledged) {
  const worker = async (which: number) => {
    for (let i = 0; ; i++) {
      const name = `${run}-${which}-${i}`;
      const user = await client.ask("user.create", {
        email: `u${name}`,
        password: "a password",
      });
      if (user === undefined) return;
      done.users.push(user as string);
      const token = await client.ask("token.create", { description: name });
      if (token === undefined) return;
      done.tokens.push(name);
      const server = await client.ask("server.add", {
        label: `s${name}`,
        host: `127.0.0.9:${1 + run * 3000 + which * 1000 + (i % 1000)}`,
        username: "root",
        password: "a long secret",
        autoConnect: false,
      });
      if (server === undefined) return;
      done.servers.push(server as string);
    }
  };
  await Promise.all([0, 1, 2].map(worker));
}

t.test("all acknowledged data exists after kill -9", LIMIT, async (t) => {
  t.comment(`SEED=${SEED}`);
  const cwd = t.testdir({});
  const random = seeded(SEED);
  const done: Acknowledged = { users: [], tokens: [], servers: [] };
  for (let run = 0; run < KILLS; run++) {
    const { server, client } = await start(t, cwd);
    await check(t, client, done);
    const changing = change(client, run, done);
    const enough = done.users.length + 1;
    while (done.users.length < enough) await pause(5);
    await pause(random(400));
    t.equal(await server.stop("SIGKILL"), "SIGKILL");
    await changing;
    await verify(t, cwd);
  }
  const { server, client } = await start(t, cwd);
  await check(t, client, done);
  client.close();
  t.equal(await server.stop(), 0);
  await verify(t, cwd);
  t.comment(
    `${done.users.length} users, ${done.tokens.length} tokens, ${done.servers.length} servers`,
  );
  t.ok(done.servers.length > 0);
});

async function start(t: Test, cwd: string) {
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const host = await server.find(LISTENING);
  const client = new Client(host);
  await client.signIn();
  return { server, client };
}

async function check(t: Test, client: Client, done: Acknowledged) {
  const users = idsOf(await client.ask("user.getAll"));
  const servers = idsOf(await client.ask("server.getAll"));
  // A token is told once; it is known again by what it was made for.
  const tokens = idsOf(
    await client.ask("user.getAuthenticationTokens"),
    "description",
  );
  t.same(missing(done.users, users), [], "users");
  t.same(missing(done.servers, servers), [], "servers");
  t.same(missing(done.tokens, tokens), [], "tokens");
}

function idsOf(list: unknown, key = "id"): Set<string> {
  const rows = list as Readonly<Record<string, string>>[];
  return new Set(rows.map((row) => row[key]!));
}

function missing(wanted: readonly string[], there: ReadonlySet<string>) {
  return wanted.filter((id) => !there.has(id));
}

async function verify(t: Test, cwd: string) {
  const audit = new RunningProgram(t, "xo-server", ["audit", "verify"], {
    cwd,
  });
  t.equal(await audit.ended, 0, audit.output);
}

/** Below `limit`, the same in each run. */
function seeded(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
