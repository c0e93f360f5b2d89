import t from "tap";
import { toMemoryMap } from "./memory-map.js";

/** As in /proc/PID/smaps. @param rss in kB */
function mapping(range: string, access: string, rss: number, name = "") {
  return [
    `${range} ${access} 00000000 00:00 0${name === "" ? " " : `                  ${name}`}`,
    "Size:               1024 kB",
    "KernelPageSize:        4 kB",
    `Rss:${String(rss).padStart(20)} kB`,
    "Pss:                   1 kB",
    "VmFlags: rd wr mr mw me ac sd",
    "",
  ].join("\n");
}

t.test("arenas of malloc, files and other mappings are distinguished", (t) => {
  const smaps = [
    mapping("00400000-00500000", "r-xp", 1, "/usr/bin/node"),
    mapping("01000000-02000000", "rw-p", 10, "[heap]"),
    // Another arena: the rest of its 64 MiB is reserved.
    mapping("7f0000000000-7f0000100000", "rw-p", 100),
    mapping("7f0000100000-7f0004000000", "---p", 0),
    // A full one.
    mapping("7f0004000000-7f0008000000", "rw-p", 1_000),
    // As long as an arena is reserved, but not at a multiple of it.
    mapping("7f0008100000-7f0008200000", "rw-p", 10_000),
    mapping("7f0008200000-7f000c100000", "---p", 0),
    mapping("7ffc00000000-7ffc00021000", "rw-p", 100_000, "[stack]"),
  ];
  t.same(toMemoryMap(smaps.join("")), {
    arenas: 1_110 * 1024,
    files: 1024,
    others: 110_000 * 1024,
  });
  t.end();
});
