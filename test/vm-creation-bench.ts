import type { Test } from "tap";
import { ApiSession, startOver, type Thing } from "./api-session.js";

const GiB = 2 ** 30;

/** A server with one pool, and what tests of the creation of VMs need. */
export async function startCreationBench(t: Test) {
  const { url } = await startOver(t, []);
  const api = await ApiSession.open(t, url);
  const any = () => true;
  const one = async (filter: object, test: (thing: Thing) => boolean = any) =>
    (await api.all(filter)).find(test)!;

  const media = { type: "VM-template", name_label: "Other install media" };
  const template = await one(media);
  // Its guests have tools.
  const debian = await one({
    type: "VM-template",
    name_label: "Debian Bookworm 12",
  });
  const pool = await one({ type: "pool" });
  const networks = await api.all({ type: "network" });
  const network = networks[0]!;
  const srs = (await api.all({ type: "SR", content_type: "user" })).filter(
    ({ shared }) => shared === true,
  );
  const sr = srs[0]!;
  const iso = await one({ type: "VDI" }, ({ name_label }) =>
    String(name_label).endsWith(".iso"),
  );

  const disksOf = async (vm: string) => {
    const drives = await api.all({ type: "VBD", VM: vm, is_cd_drive: false });
    return Promise.all(
      drives
        .toSorted((a, b) => Number(a["position"]) - Number(b["position"]))
        .map(async (vbd) => ({
          ...(await api.get(String(vbd["VDI"]))),
          position: vbd["position"],
        })),
    );
  };
  const cardsOf = async (vm: string) =>
    (await api.all({ type: "VIF", $VM: vm })).toSorted(
      (a, b) => Number(a["device"]) - Number(b["device"]),
    );
  const counts = async () =>
    Promise.all(
      ["VM", "VM-template", "VDI", "VBD", "VIF"].map(
        async (type) => (await api.all({ type })).length,
      ),
    );
  const taskOf = async (answer: Response) => {
    t.equal(answer.status, 202);
    const { taskId } = (await answer.json()) as { taskId: string };
    const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
    return (await task.json()) as {
      status: string;
      result: { id: string; code?: string };
    };
  };

  const terraform = (more: object = {}) => ({
    ...terraformParameters(template.id, sr.id, network.id),
    ...more,
  });
  return {
    api,
    terraform,
    template,
    disksOf,
    sr,
    cardsOf,
    network,
    one,
    networks,
    iso,
    pool,
    debian,
    taskOf,
    counts,
    srs,
  };
}

/** Parameters as the Terraform provider of Xen Orchestra sends them. */
function terraformParameters(template: string, SR: string, network: string) {
  return {
    name_label: "tf",
    name_description: "",
    template,
    clone: true,
    bootAfterCreate: false,
    coreOs: false,
    CPUs: 2,
    cpuCap: null,
    cpuWeight: null,
    memoryMax: 2 * GiB,
    memoryStaticMax: 2 * GiB,
    VDIs: [
      {
        $SR: SR,
        SR,
        type: "user",
        userdevice: "0",
        name_label: "d",
        name_description: "of tf",
        size: 10 * GiB,
      },
    ],
    VIFs: [{ network }],
    tags: ["t"],
    auto_poweron: false,
    high_availability: "",
    hvmBootFirmware: "bios",
    secureBoot: false,
    expNestedHvm: false,
    vga: "std",
    videoram: 8,
  };
}

export type CreationBench = Awaited<ReturnType<typeof startCreationBench>>;
