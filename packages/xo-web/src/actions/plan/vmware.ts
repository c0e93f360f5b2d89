import type { Json } from "@xo-server/kit";
import type { Call } from "../../api/server-connection.js";
import { fill } from "../../locale/messages.js";
import type { Toasts } from "../../toasts/use-toasts.js";
import type { Localization } from "./action.js";
import { errorMessage } from "./error-message.js";

/** A VM of a VMware server, as `esxi.listVms` returns it. */
export interface VmwareVm {
  readonly id: string;
  readonly name: string;
  readonly powerState: string;
  readonly vcpus: number;
  /** Bytes. */
  readonly memory: number;
  readonly guestOs: string;
  readonly disks: readonly { readonly size: number }[];
  readonly networks: readonly { readonly name: string }[];
  readonly obstacle?: string;
}

/** An item of CheckList. */
interface VmOption {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly isDisabled: boolean;
}

/** Rows of the list. */
const MAX_OPTIONS = 200;

/** The VMs whose name contains the text, with the properties that matter for an import. */
export function vmOptions(
  vms: readonly VmwareVm[],
  { search, canStop }: { readonly search: string; readonly canStop: boolean },
  { text, formats }: Localization,
): VmOption[] {
  const texts = text.actions.vmware;
  const searched = search.trim().toLowerCase();
  return vms
    .filter(({ name }) => name.toLowerCase().includes(searched))
    .slice(0, MAX_OPTIONS)
    .map(({ id, name, disks, memory, guestOs, powerState, obstacle }) => {
      const isOff = powerState === "poweredOff";
      const size = disks.reduce((sum, disk) => sum + disk.size, 0);
      const properties = [
        formats.plural(texts.disks, disks.length),
        formats.bytes(size),
        fill(texts.memory, { size: formats.bytes(memory) }),
        guestOs,
        isOff ? texts.off : texts.notOff,
        ...(obstacle === undefined ? [] : [obstacle]),
      ];
      return {
        id,
        label: name,
        hint: properties.filter((property) => property !== "").join(" · "),
        isDisabled: obstacle !== undefined || !(isOff || canStop),
      };
    });
}

/** Names of the networks of some VMs, each once. */
export function networksOf(
  vms: readonly VmwareVm[],
  ids: readonly string[],
): string[] {
  const chosen = vms.filter(({ id }) => ids.includes(id));
  const names = chosen.flatMap(({ networks }) =>
    networks.map(({ name }) => name),
  );
  return [...new Set(names)].toSorted((a, b) => a.localeCompare(b));
}

interface VmwareOrder {
  readonly call: Call;
  readonly toasts: Pick<Toasts, "show">;
  readonly localization: () => Localization;
  readonly host: string;
  readonly vms: readonly VmwareVm[];
  /** Result of `vm.importMultipleFromEsxi`. */
  readonly params: Readonly<Record<string, Json>>;
}

interface Imported {
  readonly created: Readonly<Record<string, string>>;
  readonly failed: Readonly<Record<string, string>>;
}

/** Imports VMs, and reports the result in a toast; the progress is that of the task. */
export async function importFromVmware(order: VmwareOrder): Promise<void> {
  const { call, toasts, localization, host, vms, params } = order;
  const { text, formats } = localization();
  const texts = text.actions.vmware;
  const id = toasts.show({
    tone: "busy",
    text: fill(formats.plural(texts.importing, vms.length), { host }),
    detail: texts.seeTasks,
  });
  try {
    const answer = await call("vm.importMultipleFromEsxi", params);
    const { created, failed } = answer as unknown as Imported;
    const failures = Object.entries(failed).map(
      ([vm, reason]) =>
        `${vms.find((one) => one.id === vm)?.name ?? vm}: ${reason}`,
    );
    const done = formats.plural(texts.done, Object.keys(created).length);
    if (failures.length === 0) toasts.show({ id, tone: "good", text: done });
    else {
      const detail = failures.join("; ");
      const failedText = formats.plural(texts.failed, failures.length);
      toasts.show({ id, detail, tone: "bad", text: failedText });
    }
  } catch (error) {
    const failedText = formats.plural(texts.failed, vms.length);
    const detail = errorMessage(error, text);
    toasts.show({ id, detail, tone: "bad", text: failedText });
  }
}
