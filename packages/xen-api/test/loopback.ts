/**
 * Address `n` (0 to 3) of the loopback that only this process uses: the port that a
 * server on one of them got is free on the others, for members of a pool share a port.
 * On 127.0.0.1 it may belong to a connection or a server of another process. Linux
 * answers on all of 127.0.0.0/8.
 */
export function ownAddress(n: number): string {
  const { pid } = process;
  // The addresses of no other process: the lowest 21 bits of the pid, four addresses each.
  return `127.${1 + ((pid >> 14) & 127)}.${(pid >> 6) & 255}.${(pid & 63) * 4 + n}`;
}
