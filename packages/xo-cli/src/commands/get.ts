import { Command } from "commander";
import { RequestError, usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import type { Row } from "../objects/path.js";
import { toReadable } from "../output/readable.js";
import type { Rpc } from "../server/rpc.js";

/** `xo-cli get`. Fails if no object, or more than one, has the name. */
export function getCommand(run: Run): Command {
  return new Command("get")
    .description("get an object with all its fields")
    .argument("<id>", "id, UUID or unique name")
    .action((id: string, _options: object, command) => {
      run(command as Command, (context) => get(context, id));
    });
}

async function get(context: Context, id: string): Promise<void> {
  const { terminal } = context;
  const rpc = await (await context.server()).signIn();
  const found = await find(rpc, id);
  if (terminal.json) await terminal.jsonLine(found);
  else await terminal.write(toReadable(found));
}

async function find(rpc: Rpc, id: string): Promise<Row> {
  for (const filter of [{ id }, { uuid: id }, { name_label: id }]) {
    const objects = await rpc.call("xo.getAllObjects", { filter });
    const [first, ...others] = Object.values(objects as Record<string, Row>);
    if (first === undefined) continue;
    if (others.length === 0) return first;
    throw usageError(
      `${others.length + 1} objects are named ${JSON.stringify(id)}`,
      "use an id: xo-cli list --filter 'name_label:NAME'",
    );
  }
  const data = { id, type: "object" };
  throw new RequestError(`no such object: ${id}`, "NO_SUCH_OBJECT", data);
}
