import { formatMegabytes } from "./format.js";
import type { Report } from "./result.js";

/** Machine, versions and date of the measurements, in one sentence. */
export function measuredOn({
  machine,
  versions,
  commit,
  date,
}: Report): string {
  const packages = Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  return (
    `Measured on ${date} at commit ${commit}: ${machine.cpu}, ${machine.cores} cores, ` +
    `${formatMegabytes(machine.memoryBytes / 1000)} GB of memory, ${machine.system}, Node.js ${machine.node}` +
    `${packages === "" ? "" : `; ${packages}`}.`
  );
}
