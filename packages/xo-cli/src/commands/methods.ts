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
import { searchMethods, type FoundMethod } from "../server/search-methods.js";

/** `xo-cli methods`: the full description of one method, or usage and summaries of several. */
export function methodsCommand(run: Run): Command {
  return new Command("methods")
    .description("search API methods, and describe one")
    .argument(
      "[words...]",
      "name of a method for its description, part of a name (* matches anything), or words of its summary and parameters",
    )
    .action((words: readonly string[], _options: object, command) => {
      run(command as Command, (context) =>
        printMethods(context, words.join(" ")),
      );
    });
}

async function printMethods(context: Context, pattern: string): Promise<void> {
  const { terminal } = context;
  const all = await readMethods(await (await context.server()).connect());
  const one = all.get(pattern);
  const found: readonly FoundMethod[] =
    one === undefined ? searchMethods(all, pattern) : [[pattern, one]];
  if (found.length === 0)
    throw new RequestError(`no method matches ${pattern}`, "UNKNOWN_METHOD");
  if (terminal.json) await terminal.jsonLine(Object.fromEntries(found));
  else if (one !== undefined) await terminal.write(toHelp(pattern, one));
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

function toEntry([name, info]: FoundMethod): string {
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
