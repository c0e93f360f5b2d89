import { Command } from "commander";
import { RequestError, usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { withIds } from "../objects/object-names.js";
import { isUnknownMethod } from "../objects/read-objects.js";
import { confirm } from "../prompt.js";
import { convertValues } from "../server/convert-values.js";
import { followTask, taskIdOf } from "../server/follow-task.js";
import { readMethods, unknownMethod } from "../server/method-info.js";
import type { Rpc } from "../server/rpc.js";
import type { Server } from "../server/server.js";
import { download, uploadText } from "../server/transfer.js";
import { withSecrets } from "../secret-values.js";
import { toValues, type Values } from "../values.js";
import { toReadable } from "../output/readable.js";
import { printMethod } from "./methods.js";

interface CallOptions {
  readonly help?: boolean;
  /** `--no-wait` */
  readonly wait: boolean;
  readonly yes?: boolean;
}

const VALUES = `
Values have the type of the parameter; true and false are booleans, json:... is JSON:
  xo-cli call vm.set id=ID auto_poweron=true CPUs=4 name_label=db-1
Objects can be given by name, if only one object of the type has it:
  xo-cli call vm.start vm=db-1 host=host-3
@- is prompted for without echo, or is the first line of stdin:
  xo-cli call server.add host=192.168.1.1 username=root password=@-
@=file is the file of a method that downloads or uploads one: vm.export vm=ID @=db-1.xva`;

/** Of methods that replace more than one object: what happens; undefined: nothing is changed. */
const CONSEQUENCES: Readonly<
  Record<string, (url: string, params: Values["params"]) => string | undefined>
> = {
  // As `xo-server config import`, which prompts too.
  "xo.importConfig": (url) => `The import replaces the configuration of ${url}`,
  "metadataBackup.restore": (url, { pool, dryRun }) => {
    if (dryRun === true) return undefined;
    const named = typeof pool === "string" ? pool : "that was backed up";
    return `The restore replaces the database of the pool ${named}, or the configuration of ${url} if the backup is one of that`;
  },
};

/**
 * `xo-cli call`. `--help METHOD` describes an API method; therefore commander's
 * own option is replaced.
 */
export function callCommand(run: Run): Command {
  const call: Command = new Command("call")
    .description("call an API method")
    .argument("[method]", "such as vm.start; see xo-cli methods")
    .argument("[values...]", "name=value")
    .option("--no-wait", "do not wait for the task that the method starts")
    .option(
      "--yes",
      `do not ask for confirmation (${Object.keys(CONSEQUENCES).join(", ")})`,
    )
    .helpOption(false)
    .option("-h, --help", "help, or the description of the method")
    .addHelpText("after", VALUES)
    .action(
      (method: string | undefined, words: string[], options: CallOptions) => {
        if (method === undefined) call.help({ error: options.help !== true });
        run(call, (context) =>
          options.help === true
            ? printMethod(context, method)
            : callMethod(context, { method, words, ...options }),
        );
      },
    );
  return call;
}

async function callMethod(
  context: Context,
  {
    method,
    words,
    wait,
    yes,
  }: CallOptions & { method: string; words: string[] },
): Promise<void> {
  const { params, file } = toValues(words);
  if (method.startsWith("session."))
    throw usageError(
      `${method} is called by xo-cli itself`,
      "xo-cli register, whoami, unregister",
    );
  const server = await context.server();
  const consequence = CONSEQUENCES[method]?.(server.target.url, params);
  if (consequence !== undefined && yes !== true)
    await confirm(context.host, consequence);
  const rpc = await server.signIn();
  const input = withSafeDefaults(
    method,
    await withSecrets(params, context.host),
  );
  const result = await callConverted(rpc, method, input);
  const path = pathOf(result, "$getFrom");
  if (path !== undefined) await getFrom(context, server, { path, file });
  else if (pathOf(result, "$sendTo") !== undefined)
    await sendTo(context, server, { path: pathOf(result, "$sendTo")!, file });
  else await printResult(context, server, { result, wait });
}

/** The API deletes running VMs for older clients; here that takes `force=true`. */
function withSafeDefaults(
  method: string,
  params: Values["params"],
): Values["params"] {
  return method === "vm.delete" ? { force: false, ...params } : params;
}

/**
 * Calls a method. If the server refuses the parameters, which executes nothing,
 * their texts are converted to the types of its schema.
 */
async function callConverted(
  rpc: Rpc,
  method: string,
  input: Values["params"],
): Promise<unknown> {
  const params = await withIds(rpc, method, input);
  try {
    return await rpc.call(method, params);
  } catch (error) {
    if (isUnknownMethod(error)) throw await withNearest(rpc, error, method);
    if (!isRefused(error)) throw error;
    // Without the schemas the values are sent as they are.
    const methods = await readMethods(rpc).catch(() => undefined);
    const converted = convertValues(params, methods?.get(method) ?? {});
    const before = JSON.stringify(params);
    if (before === JSON.stringify(converted)) throw withMethod(error, method);
    return rpc.call(method, converted).catch((again: unknown) => {
      throw isRefused(again) ? withMethod(again, method) : again;
    });
  }
}

/** The error with the nearest name, if the server lists its methods. */
async function withNearest(
  rpc: Rpc,
  error: unknown,
  method: string,
): Promise<unknown> {
  // Without a list the error of the call is reported.
  const methods = await readMethods(rpc).catch(() => undefined);
  return methods === undefined ? error : unknownMethod(methods.keys(), method);
}

function isRefused(error: unknown): error is RequestError {
  return error instanceof RequestError && error.code === "INVALID_PARAMETERS";
}

function withMethod(
  { message, code, data }: RequestError,
  method: string,
): RequestError {
  const hint = `see xo-cli methods ${method}; write lists and objects as json:[...]`;
  return new RequestError(message, code, data, hint);
}

async function printResult(
  context: Context,
  server: Server,
  { result, wait }: { result: unknown; wait: boolean },
): Promise<void> {
  const { terminal } = context;
  const id = wait ? taskIdOf(result) : undefined;
  const output =
    id === undefined ? result : await followTask(context, server, id);
  if (terminal.json) await terminal.jsonLine(output);
  else await terminal.write(toReadable(output));
}

interface Transfer {
  readonly path: string;
  readonly file: string | undefined;
}

async function getFrom(
  { terminal }: Context,
  server: Server,
  { path, file }: Transfer,
): Promise<void> {
  if (file === undefined && terminal.isInteractive)
    throw usageError(
      "the result is a file, which is not printed on a terminal",
      "add @=file",
    );
  const response = await server.rest.request({ method: "GET", path });
  await download(response, file, terminal);
  if (file !== undefined && terminal.json) await terminal.jsonLine({ file });
}

async function sendTo(
  { terminal }: Context,
  server: Server,
  { path, file }: Transfer,
): Promise<void> {
  if (file === undefined)
    throw usageError("the method requires a file", "add @=file");
  const upload = { method: "POST", path, file };
  const result = toResult(await uploadText(server.rest, upload, terminal));
  if (terminal.json) await terminal.jsonLine({ file, result });
  else await terminal.write(toReadable(result));
}

/**
 * The result of an upload. Its response is that of a JSON-RPC call; other
 * servers may respond with text.
 */
function toResult(text: string): unknown {
  try {
    const response = JSON.parse(text) as { readonly result?: unknown } | null;
    return response?.result ?? response;
  } catch {
    return text;
  }
}

/** The path in a result that consists of a path only. */
function pathOf(result: unknown, key: string): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const entries = Object.entries(result);
  const [only] = entries;
  return entries.length === 1 &&
    only![0] === key &&
    typeof only![1] === "string"
    ? only![1].replace(/^\/+/, "")
    : undefined;
}
