/**
 * What can go wrong, to be switched on and off while the pool runs.
 *
 * On answers: `delay` (ms), `trickle` (bytes a second), `cut` (the connection
 * breaks after this number of bytes of the body), `truncated` (a complete HTTP answer
 * that lacks this number of bytes at its end), `http500`, `badJson`, `badXml`,
 * `invalidUtf8`; `hang` (the answer never comes), `drop` (the connection is
 * closed instead of an answer), `stall` (after this number of bytes of the body nothing
 * more comes). An answer that hangs or stalls does so until the client closes the
 * connection, also after the fault is switched off.
 * On the bodies of HTTP handlers (exports; of imports what the client sends) `trickle`, `cut` and
 * `stall` work as well, and only there: `pause` (nothing passes for this time in ms, beginning `after` a
 * number of bytes), `bitFlip` (of the byte at this offset), `earlyEnd` (after this number of bytes it ends as if it
 * were complete), `errorInBody` (after this number of bytes of a body that began with 200 comes the page
 * of an exception). Their `method` is `http/` and the handler's name: `http/get_export_raw_vdi`.
 * A transfer meets the faults that are on when it starts.
 * On NBD, with the method `nbd`: `drop`, `delay` and `hang` (of a reply), those of bodies (of the bytes
 * that one connection reads), `nbdError` (reads fail with this errno, true: EIO), `nbdPlain` (options
 * that xapi-nbd does not know are unsupported: no GO, no structured replies).
 * On calls: `eventsLost` (event.from and event.next fail with EVENTS_LOST),
 * `sessionInvalid` (every session ends), `booting` (HOST_STILL_BOOTING).
 * On contents of disks: `cbtOmits` (this number of changed blocks is reported as unchanged).
 * On members: `silent` (the coordinator takes connections and never answers).
 */
export type FaultName =
  | "delay"
  | "trickle"
  | "cut"
  | "truncated"
  | "http500"
  | "badJson"
  | "badXml"
  | "invalidUtf8"
  | "hang"
  | "drop"
  | "stall"
  | "pause"
  | "bitFlip"
  | "earlyEnd"
  | "errorInBody"
  | "eventsLost"
  | "sessionInvalid"
  | "booting"
  | "silent"
  | "cbtOmits"
  | "nbdError"
  | "nbdPlain";

export const faultNames: readonly FaultName[] = [
  "delay",
  "trickle",
  "cut",
  "truncated",
  "http500",
  "badJson",
  "badXml",
  "invalidUtf8",
  "hang",
  "drop",
  "stall",
  "pause",
  "bitFlip",
  "earlyEnd",
  "errorInBody",
  "eventsLost",
  "sessionInvalid",
  "booting",
  "silent",
  "cbtOmits",
  "nbdError",
  "nbdPlain",
];

export interface FaultSetting {
  /** Milliseconds, bytes or bytes a second; true where there is nothing to measure. */
  readonly value: number | true;
  /** Only answers to this method, `VM.get_all_records`, `http/get_export`; default: all. */
  readonly method?: string;
  /** Of `pause`: bytes of the body that pass before; default 0. */
  readonly after?: number;
  /** Number of times that it happens; default: until it is switched off. */
  readonly times?: number;
}

/** The faults that are switched on. */
export class Faults {
  readonly #settings = new Map<FaultName, FaultSetting>();
  readonly #listeners = new Set<(name: FaultName) => void>();

  /** `false` switches off; a number or true is a setting without conditions. */
  set(name: FaultName, setting: FaultSetting | number | boolean): void {
    if (setting === false) this.#settings.delete(name);
    else
      this.#settings.set(
        name,
        typeof setting === "object" ? setting : { value: setting },
      );
    for (const listener of this.#listeners) listener(name);
  }

  clear(): void {
    for (const name of [...this.#settings.keys()]) this.set(name, false);
  }

  /** Returns the faults that are enabled. */
  list(): Readonly<Record<string, FaultSetting>> {
    return Object.fromEntries(this.#settings);
  }

  isOn(name: FaultName): boolean {
    return this.#settings.has(name);
  }

  /** As `trigger`, for settings that name this method only. */
  takeNamed(name: FaultName, method: string): number | true | undefined {
    return this.#settings.get(name)?.method === method
      ? this.trigger(name, method)
      : undefined;
  }

  /** @returns the value of the fault if it applies to this call, which is counted */
  trigger(name: FaultName, method?: string): number | true | undefined {
    const setting = this.#settings.get(name);
    if (setting === undefined) return undefined;
    if (setting.method !== undefined && setting.method !== method)
      return undefined;
    if (setting.times !== undefined) {
      const times = setting.times - 1;
      if (times > 0) this.#settings.set(name, { ...setting, times });
      else this.#settings.delete(name);
    }
    return setting.value;
  }

  /** @returns the function that ends it */
  onChange(listener: (name: FaultName) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
