import {
  childOf,
  childrenOf,
  textAt,
  type XmlElement,
} from "../xml/xml-element.js";
import {
  invalid,
  reference,
  toManagedObject,
  type ManagedObject,
  type SoapClient,
} from "./soap-client.js";
import { escapeXml } from "../xml/escape-xml.js";

/** An object with those of its properties that are set and readable. */
export interface ObjectProperties extends ManagedObject {
  readonly properties: ReadonlyMap<string, XmlElement>;
}

/** Properties by type. */
type PropertySets = Readonly<Record<string, readonly string[]>>;

const PAGE = 100;
const MAX_OBJECTS = 50_000;

/** All objects of these types in the inventory of a server. @throws RepositoryError */
export async function readInventory(
  client: SoapClient,
  sets: PropertySets,
): Promise<ObjectProperties[]> {
  const types = Object.keys(sets).map((type) => `<type>${type}</type>`);
  const created = await client.call(
    "CreateContainerView",
    client.service("viewManager"),
    `${reference("container", client.service("rootFolder"))}${types.join("")}<recursive>true</recursive>`,
  );
  const view = childOf(created, "returnval");
  if (view === undefined) throw invalid("no view of the inventory");
  return retrieve(
    client,
    sets,
    `${reference("obj", toManagedObject(view))}<skip>true</skip><selectSet xsi:type="TraversalSpec"><type>ContainerView</type><path>view</path><skip>false</skip></selectSet>`,
  );
}

/** One object. @throws RepositoryError, also if the server does not have it */
export async function readObject(
  client: SoapClient,
  object: ManagedObject,
  properties: readonly string[],
): Promise<ObjectProperties> {
  const sets = { [object.type]: properties };
  const [found] = await retrieve(
    client,
    sets,
    `${reference("obj", object)}<skip>false</skip>`,
  );
  if (found === undefined) throw invalid(`no ${object.type} ${object.id}`);
  return found;
}

async function retrieve(
  client: SoapClient,
  sets: PropertySets,
  objectSet: string,
): Promise<ObjectProperties[]> {
  const propSets = Object.entries(sets).map(
    ([type, paths]) =>
      `<propSet><type>${type}</type>${paths.map((path) => `<pathSet>${path}</pathSet>`).join("")}</propSet>`,
  );
  const collector = client.service("propertyCollector");
  let answer = await client.call(
    "RetrievePropertiesEx",
    collector,
    `<specSet>${propSets.join("")}<objectSet>${objectSet}</objectSet></specSet><options><maxObjects>${PAGE}</maxObjects></options>`,
  );
  const found: ObjectProperties[] = [];
  for (;;) {
    const result = childOf(answer, "returnval");
    found.push(...childrenOf(result, "objects").map(toObject));
    const token = textAt(result, "token");
    if (token === "") return found;
    if (found.length > MAX_OBJECTS)
      throw invalid(`more than ${MAX_OBJECTS} objects`);
    answer = await client.call(
      "ContinueRetrievePropertiesEx",
      collector,
      `<token>${escapeXml(token)}</token>`,
    );
  }
}

function toObject(element: XmlElement): ObjectProperties {
  const object = childOf(element, "obj");
  if (object === undefined) throw invalid("an object without a reference");
  return {
    ...toManagedObject(object),
    properties: new Map(
      childrenOf(element, "propSet").flatMap((set) => {
        const value = childOf(set, "val");
        return value === undefined
          ? []
          : [[textAt(set, "name"), value] as const];
      }),
    ),
  };
}

/** The text of a property; empty: it is not set. */
export function textOf({ properties }: ObjectProperties, name: string): string {
  return properties.get(name)?.text.trim() ?? "";
}
