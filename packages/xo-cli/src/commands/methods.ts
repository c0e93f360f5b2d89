import { Command } from "commander";
import { RequestError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { toCell } from "../output/cell.js";
import { toPlainLines } from "../output/plain-text.js";
import { toTable } from "../output/table.js";
import {
  readMethod,
  readMethods,
  typeOf,
  usageOf,
  type MethodInfo,
  type ParameterInfo,
} from "../server/method-info.js";
import { nestedParameters } from "../server/nested-parameters.js";

/** `xo-cli methods`: the full description of one method, or names and summaries of several. */
export function methodsCommand(run: Run): Command {
  return new Command("methods")
    .description("list API methods and their parameters")
    .argument(
      "[pattern]",
      "name of a method for its description, or part of a name; * matches anything",
    )
    .action((pattern: string | undefined, _options: object, command) => {
      run(command as Command, (context) => printMethods(context, pattern));
    });
}

async function printMethods(
  context: Context,
  pattern: string | undefined,
): Promise<void> {
  const { terminal } = context;
  const all = await readMethods(await (await context.server()).connect());
  const fits = pattern === undefined ? () => true : toTest(pattern);
  const found = [...all]
    .filter(([name]) => name === pattern || fits(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (found.length === 0)
    throw new RequestError(`no method matches ${pattern}`, "UNKNOWN_METHOD");
  const one = pattern === undefined ? undefined : all.get(pattern);
  if (terminal.json)
    await terminal.jsonLine(
      Object.fromEntries(one === undefined ? found : [[pattern!, one]]),
    );
  else if (one !== undefined) await terminal.write(toHelp(pattern!, one));
  else await terminal.write(found.map(toEntry).join(""));
}

/** Prints the description of a method, for `call METHOD --help`. */
export async function printMethod(
  context: Context,
  name: string,
): Promise<void> {
  const rpc = await (await context.server()).connect();
  const info = await readMethod(rpc, name);
  if (context.terminal.json) await context.terminal.jsonLine({ [name]: info });
  else await context.terminal.write(toHelp(name, info));
}

function toTest(pattern: string): (name: string) => boolean {
  const source = pattern
    .split("*")
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
  const regex = new RegExp(pattern.includes("*") ? `^${source}$` : source, "i");
  return (name) => regex.test(name);
}

function toEntry([name, info]: [string, MethodInfo]): string {
  const description = info.description ?? "";
  const lines = [
    usageOf(name, info),
    ...(description ? [`    ${description}`] : []),
  ];
  return toPlainLines(`${lines.join("\n")}\n`);
}

function toHelp(name: string, info: MethodInfo): string {
  const { description, permission, params = {} } = info;
  const rows = Object.entries(params).flatMap(([parameter, one]) => [
    toRow(parameter, one, one.optional !== true),
    ...nestedParameters(parameter, one).map((member) =>
      toRow(member.path, member.info, member.isRequired),
    ),
  ]);
  const heads = ["", "", "", ""].map((title) => ({ title }));
  const table = toTable(heads, rows, undefined).slice(1);
  return toPlainLines(
    [
      `xo-cli call ${usageOf(name, info)}`,
      ...(description === undefined ? [] : ["", description]),
      ...(permission === undefined
        ? []
        : ["", `Required permission: ${permission}`]),
      ...(table.length === 0 ? [] : ["", "Parameters:", ...table]),
      "",
    ].join("\n"),
  );
}

function toRow(name: string, info: ParameterInfo, isRequired: boolean) {
  const { description, default: value } = info;
  const texts = [
    ...(description === undefined ? [] : [description]),
    ...(value === undefined ? [] : [`Default: ${JSON.stringify(value)}.`]),
  ];
  const cells = [
    `  ${name}`,
    typeOf(info),
    isRequired ? "required" : "optional",
    texts.join(" "),
  ];
  return cells.map((text) => ({ ...toCell("", text), text }));
}
