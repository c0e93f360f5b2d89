/** What a piece of work that never waits took, in ms, and what it gave. */
interface Timed<T> {
  readonly value: T;
  readonly ms: number;
  /** Of all threads of this process, the garbage collector's included. */
  readonly cpuMs: number;
}

/** Wall-clock and CPU time of synchronous work, in ms. CPU time includes that of other threads. */
export function timed<T>(work: () => T): Timed<T> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const value = work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { value, ms, cpuMs: (user + system) / 1000 };
}
