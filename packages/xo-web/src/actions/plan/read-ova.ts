/** Bytes of a descriptor that are read at most. */
const MAX_DESCRIPTOR = 4 * 1024 * 1024;
const RECORD = 512;
/** Resource type of a network interface (CIM_ResourceAllocationSettingData). */
const ETHERNET = "10";

/**
 * The names of the networks in the descriptor of an OVA, each once, in the order of its
 * interfaces. @returns undefined: the file does not begin with a descriptor
 */
export async function readOvaNetworks(
  file: Blob,
): Promise<readonly string[] | undefined> {
  const header = await file.slice(0, RECORD).text();
  const name = header.slice(0, 100).replace(/\0.*$/s, "");
  const size = parseInt(header.slice(124, 136), 8);
  if (!name.endsWith(".ovf") || !(size <= MAX_DESCRIPTOR)) return undefined;
  const text = await file.slice(RECORD, RECORD + size).text();
  return networksOf(text);
}

function networksOf(descriptor: string): readonly string[] {
  const { documentElement } = new DOMParser().parseFromString(
    descriptor,
    "application/xml",
  );
  const items = ["Item", "EthernetPortItem"].flatMap((name) => [
    ...documentElement.getElementsByTagNameNS("*", name),
  ]);
  const textOf = (item: Element, name: string) =>
    item.getElementsByTagNameNS("*", name)[0]?.textContent.trim() ?? "";
  const names = items
    .filter((item) => textOf(item, "ResourceType") === ETHERNET)
    .map((item) => textOf(item, "Connection"));
  return [...new Set(names)];
}
