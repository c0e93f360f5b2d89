import type { FleetBuilder } from "./fleet-builder.js";

/** The two consoles that a running VM has: a screen and a terminal. */
export function addConsoles(
  builder: FleetBuilder,
  vm: string,
  address: string,
): void {
  for (const protocol of ["rfb", "vt100"]) {
    const ref = builder.random.ref();
    builder.add(
      "console",
      { protocol, location: consoleLocation(address, ref), VM: vm },
      ref,
    );
  }
}

/** URL of a console with its reference; clients add the session. */
export function consoleLocation(address: string, ref: string): string {
  return `https://${address}/console?ref=${ref}`;
}
