/** A network interface of a VM in a backup. */
export interface ArchivedInterface {
  /** Number of the interface, as text. */
  readonly device: string;
  readonly mac: string;
  /** The network that it was attached to. */
  readonly network: { readonly uuid: string; readonly name: string };
}

type Fields = Readonly<Record<string, unknown>>;

/** Interfaces by number, from the records of a VM in a manifest. */
export function interfacesOf(records: unknown): ArchivedInterface[] {
  const { VIFs, networks } = fieldsOf(records);
  const byRef = fieldsOf(networks);
  return Object.values(fieldsOf(VIFs))
    .map(fieldsOf)
    .map((vif) => {
      const network = fieldsOf(byRef[textOf(vif["network"])]);
      return {
        device: textOf(vif["device"]),
        mac: textOf(vif["MAC"]),
        network: {
          uuid: textOf(network["uuid"]),
          name: textOf(network["name_label"]),
        },
      };
    })
    .sort((a, b) => Number(a.device) - Number(b.device));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
