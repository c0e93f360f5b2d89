import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { Command } from "commander";
import { usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { followTask, taskIdOf } from "../server/follow-task.js";
import { toAnswerError } from "../server/connection-error.js";
import { readJson, readText, type RestRequest } from "../server/rest.js";
import type { Server } from "../server/server.js";
import { download, upload } from "../server/transfer.js";
import { toValues, type Values } from "../values.js";
import { toReadable } from "../output/readable.js";

const METHODS: Readonly<Record<string, string>> = {
  get: "read, such as: xo-cli rest get vms fields=name_label filter=power_state:running limit=5",
  post: "create, or start an action, such as: xo-cli rest post vms/ID/actions/start",
  put: "add, such as: xo-cli rest put vms/ID/tags/production",
  patch:
    "change, such as: xo-cli rest patch vms/ID nameDescription='the database'",
  del: "delete, such as: xo-cli rest del vms/ID/tags/production",
};

interface RestOptions {
  readonly output?: string;
  readonly wait?: boolean;
}

/** `xo-cli rest get|post|put|patch|del` */
export function restCommand(run: Run): Command {
  const rest = new Command("rest").description("send a REST request");
  for (const [name, description] of Object.entries(METHODS)) {
    const one = rest
      .command(name)
      .description(description)
      .argument("<path>", "below /rest/v0, such as vms or vms/ID")
      .argument(
        "[values...]",
        name === "get"
          ? "name=value: the query"
          : "name=value: the body; @=file: a file as the body",
      )
      .option("--output <file>", "write the response to a file");
    if (name !== "get")
      one.option("--no-wait", "do not wait for the task of an action");
    one.action((path: string, words: string[], options: RestOptions) => {
      const method = name === "del" ? "DELETE" : name.toUpperCase();
      run(one, (context) =>
        sendRequest(context, { method, path, words, ...options }),
      );
    });
  }
  return rest;
}

interface RestInput extends RestOptions {
  readonly method: string;
  readonly path: string;
  readonly words: readonly string[];
}

async function sendRequest(context: Context, input: RestInput): Promise<void> {
  const { method, output, words } = input;
  const values = toValues(words);
  const path = toPath(input.path, method === "GET" ? values.params : {});
  const server = await context.server();
  const response = await send(context, server, { method, path, values });
  if (output !== undefined) {
    await download(response, output, context.terminal);
    return;
  }
  const type = response.headers["content-type"] ?? "";
  if (/^application\/x-ndjson\b/i.test(type))
    await printLines(context, response);
  else if (/^application\/json\b/i.test(type))
    await printJson(context, server, {
      response,
      wait: input.wait !== false,
    });
  else await printOther(context, response, type);
}

function send(
  { terminal }: Context,
  server: Server,
  { method, path, values }: { method: string; path: string; values: Values },
): Promise<IncomingMessage> {
  const { params, file } = values;
  if (file !== undefined)
    return upload(server.rest, { method, path, file }, terminal);
  const request: RestRequest = { method, path };
  if (method === "GET") return server.rest.request(request);
  const body = JSON.stringify(params);
  return server.rest.request({
    ...request,
    body,
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    },
  });
}

function toPath(
  text: string,
  query: Readonly<Record<string, unknown>>,
): string {
  const path = text.replace(/^\/*(rest\/v0(\/|$))?/, "").replace(/#.*/, "");
  const url = new URL(`http://here/rest/v0/${path}`);
  if (!url.pathname.startsWith("/rest/v0"))
    throw usageError(`${text} is not below /rest/v0`);
  for (const [name, value] of Object.entries(query))
    url.searchParams.set(
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    );
  return url.pathname.slice(1) + url.search;
}

/** Prints lines as they are received. */
async function printLines(
  { terminal }: Context,
  response: IncomingMessage,
): Promise<void> {
  // readline ends without an error when the stream breaks.
  const broken = new Promise<never>((_, reject) => {
    response.on("error", (error) => {
      reject(toAnswerError(error));
    });
  });
  const lines = createInterface({ input: response, crlfDelay: Infinity });
  const print = async (): Promise<void> => {
    for await (const line of lines) if (line !== "") await terminal.line(line);
    if (!response.complete) await broken;
  };
  await Promise.race([print(), broken]);
}

async function printJson(
  context: Context,
  server: Server,
  { response, wait }: { response: IncomingMessage; wait: boolean },
): Promise<void> {
  const { terminal } = context;
  let answer = await readJson(response);
  const id = response.statusCode === 202 && wait ? taskIdOf(answer) : undefined;
  if (id !== undefined) answer = await followTask(context, server, id);
  if (terminal.json) await terminal.jsonLine(answer);
  else if (isHrefs(answer))
    await terminal.write(
      answer.map((href) => `${href.slice("/rest/v0/".length)}\n`).join(""),
    );
  else await terminal.write(toReadable(answer));
}

async function printOther(
  context: Context,
  response: IncomingMessage,
  type: string,
): Promise<void> {
  const { terminal } = context;
  if (response.statusCode === 204) {
    response.resume();
    if (terminal.json) await terminal.jsonLine(true);
  } else if (/^text\//i.test(type) && terminal.isInteractive)
    await terminal.write(toReadable(await readText(response)));
  else if (terminal.isInteractive && type !== "") {
    response.destroy();
    throw usageError(
      `the response is ${type}, which is not printed on a terminal`,
      "--output file",
    );
  } else await download(response, undefined, terminal);
}

function isHrefs(answer: unknown): answer is string[] {
  return (
    Array.isArray(answer) &&
    answer.length > 0 &&
    answer.every(
      (one) => typeof one === "string" && one.startsWith("/rest/v0/"),
    )
  );
}
