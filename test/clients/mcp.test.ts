import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import { clientFile, missing, startTestbed, type Testbed } from "./testbed.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");

const MCP = ["npm", "node_modules", ".bin", "xo-mcp"] as const;
const skip = missing(...MCP);

interface Answer {
  readonly id: number;
  readonly result: unknown;
  readonly error?: { readonly message: string };
}
interface Tool {
  readonly name: string;
}

/** The MCP server in a process of its own, spoken to as an assistant does. */
class Assistant {
  readonly #child;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #last = 0;

  constructor(t: Test, { url, token, folder }: Testbed) {
    this.#child = spawn(process.execPath, [clientFile(...MCP)], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        XO_URL: url,
        XO_TOKEN: token,
        XO_MCP_ENABLE_ACTIONS: "1",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    createInterface(this.#child.stdout).on("line", (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#answers.get(answer.id)?.(answer);
    });
    t.teardown(() => this.#child.kill("SIGKILL"));
  }

  async request(method: string, params: object): Promise<unknown> {
    const id = ++this.#last;
    const answer = new Promise<Answer>((resolve) => {
      this.#answers.set(id, resolve);
    });
    this.#send({ id, method, params });
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(error.message);
    return result;
  }

  async open(): Promise<void> {
    const protocolVersion = "2025-03-26";
    const clientInfo = { name: "a test", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    await this.request("initialize", params);
    this.#send({ method: "notifications/initialized" });
  }

  /** The text that a tool answers. */
  async use(name: string, args: object): Promise<string> {
    const { content } = (await this.request("tools/call", {
      name,
      arguments: args,
    })) as { content: { text: string }[] };
    return content.map(({ text }) => text).join("\n");
  }

  #send(message: object): void {
    this.#child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
    );
  }
}

t.test("tools of the MCP server work", { skip }, async (t) => {
  const assistant = new Assistant(t, await startTestbed(t));
  await assistant.open();
  const { tools } = (await assistant.request("tools/list", {})) as {
    tools: readonly Tool[];
  };
  const names = tools.map(({ name }) => name);
  for (const noun of ["pools", "hosts", "vms", "srs", "vdis", "networks"])
    t.ok(names.includes(`${noun}_query`), noun);
  t.ok(names.includes("vms_action"), "actions are switched on");
  t.match(await assistant.use("check_connection", {}), /successful/);
  const summary = await assistant.use("get_infrastructure_summary", {});
  t.match(summary, /## Pools\n\| id \| name_label \|[^]*\| C \|/);

  const query = { operation: "GetVms", filter: "power_state:halted", limit: 1 };
  const table = await assistant.use("vms_query", query);
  const [, , row] = table.split("\n");
  t.match(row, /^\| [0-9a-f-]{36} \| .* \| Halted \|/);
  const [id] = /[0-9a-f-]{36}/.exec(row!)!;
  const start = { operation: "StartVm", id };
  const question = await assistant.use("vms_action", start);
  const [, confirm_token] = /confirm_token: "([^"]+)"/.exec(question)!;
  const started = await assistant.use("vms_action", {
    ...start,
    confirm_token,
  });
  const [, taskId] = /"taskId":\s*"([^"]+)"/.exec(started)!;
  let status = "pending";
  while (status === "pending") {
    const task = { operation: "GetTask", id: taskId };
    const answer = await assistant.use("tasks_query", task);
    ({ status } = JSON.parse(answer) as { status: string });
  }
  t.equal(status, "success");
  const vm = await assistant.use("vms_query", { operation: "GetVm", id });
  t.match(vm, /"power_state":\s*"Running"/);
  const unknown = await assistant.use("vms_query", {
    operation: "GetVm",
    id: "123e4567-e89b-12d3-a456-426655440000",
  });
  t.match(unknown, /404.*no such VM/);
});
