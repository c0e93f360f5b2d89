/** Classes that a row shows; the details show all. */
export const mainClasses = [
  "host",
  "VM",
  "SR",
  "VDI",
  "network",
  "task",
] as const;
