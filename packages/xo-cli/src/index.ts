export { ExitCode } from "./exit-code.js";
export type { Host } from "./host.js";
export { main } from "./main.js";
export { runProgram } from "./run-program.js";
