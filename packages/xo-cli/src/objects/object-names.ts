import { RequestError, usageError } from "../cli-error.js";
import type { Rpc } from "../server/rpc.js";
import type { Row } from "./path.js";

/** Types of the objects that parameters with these names refer to. */
const TYPES: Readonly<Record<string, string>> = {
  vm: "VM",
  host: "host",
  pool: "pool",
  sr: "SR",
  SR: "SR",
  vdi: "VDI",
  network: "network",
  template: "VM-template",
};

const ID =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}.*|OpaqueRef:.*)$/i;

type Params = Readonly<Record<string, unknown>>;

/**
 * Replaces names of objects by their ids, where a parameter is an id and
 * exactly one object of its type has the name. Other values stay: the server
 * decides.
 * @throws CliError: several objects have the name
 */
export async function withIds(
  rpc: Rpc,
  method: string,
  params: Params,
): Promise<Params> {
  const found = await Promise.all(
    Object.entries(params).map(async ([parameter, value]) => {
      const noun = parameter === "id" ? method.split(".", 1)[0]! : parameter;
      const type = Object.hasOwn(TYPES, noun) ? TYPES[noun] : undefined;
      if (type === undefined || typeof value !== "string" || ID.test(value))
        return [parameter, value] as const;
      return [parameter, await idOf(rpc, type, value)] as const;
    }),
  );
  return Object.fromEntries(found);
}

/** The id of the object with a name; the text itself if there is none. */
export async function idOf(
  rpc: Rpc,
  type: string,
  name: string,
): Promise<string> {
  const ids = (await namedObjects(rpc, { type, name_label: name })).map(
    ({ id }) => String(id),
  );
  if (ids.length > 1)
    throw usageError(
      `${ids.length} objects of type ${type} are named ${JSON.stringify(name)}`,
      `use one of the ids: ${ids.slice(0, 10).join(", ")}`,
    );
  return ids[0] ?? name;
}

/** Objects that match; none if the server cannot search them. */
export async function namedObjects(
  rpc: Rpc,
  filter: Readonly<Record<string, unknown>>,
): Promise<readonly Row[]> {
  try {
    const found = await rpc.call("xo.getAllObjects", { filter, limit: 100 });
    return Object.values(found as Record<string, Row>);
  } catch (error) {
    // The call itself, with the unresolved name, reports the error.
    if (error instanceof RequestError) return [];
    throw error;
  }
}
