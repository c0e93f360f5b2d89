import type { Command } from "commander";
import type { Context } from "./context.js";

/** What a command line comes to. */
export type Work = (context: Context) => Promise<void>;

/** Takes note of what is to be done; nothing is done while the command line is read. */
export type Run = (command: Command, work: Work) => void;
