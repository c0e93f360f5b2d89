/** A figure of a start, in milliseconds or milliseconds a second. */
interface FigureRow {
  readonly title: string;
  readonly name: string;
}

/** The times that are measured of each start, in their order. */
export const figureRows: readonly FigureRow[] = [
  { title: "listening, ms", name: "listeningMs" },
  { title: "CPU, ms", name: "listeningCpuMs" },
  { title: "first rows of the list, ms", name: "firstRowsMs" },
  { title: "all VMs in the list, ms", name: "listMs" },
  { title: "CPU, ms", name: "listCpuMs" },
  { title: "list again, ms", name: "againMs" },
  { title: "search, ms", name: "searchMs" },
  { title: "another text, ms", name: "searchAgainMs" },
  { title: "first filter, ms", name: "filterMs" },
  { title: "another filter, ms", name: "filterAgainMs" },
  { title: "first sort by memory, ms", name: "sortMs" },
  { title: "the same descending, ms", name: "sortAgainMs" },
  { title: "first list of VDIs, ms", name: "disksMs" },
  { title: "one VM by id, ms", name: "byIdMs" },
  { title: "one VM by name, ms", name: "byNameMs" },
  { title: "xo.getAllObjects, ms", name: "allMs" },
  { title: "the same again, ms", name: "allAgainMs" },
  { title: "the same from a file, ms", name: "fileMs" },
  { title: "rename until a list has it, ms", name: "renameMs" },
  { title: "/health p99, ms", name: "healthP99Ms" },
  { title: "/health longest, ms", name: "healthLongestMs" },
  { title: "longest block of the event loop, ms", name: "longestBlockMs" },
  {
    title: "CPU in the next 30 s, ms a second",
    name: "settleCpuMsPerSecond",
  },
  { title: "CPU at rest, ms a second", name: "restCpuMsPerSecond" },
  {
    title: "CPU at 200 changes a second, ms a second",
    name: "firstChurnCpuMsPerSecond",
  },
  {
    title: "the same a minute later, ms a second",
    name: "churnCpuMsPerSecond",
  },
];
