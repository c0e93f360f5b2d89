import type { Command } from "commander";
import type { Context } from "./context.js";

/** The action of a command. */
export type CommandAction = (context: Context) => Promise<void>;

/** Registers the action of the parsed command; it runs after parsing. */
export type Run = (command: Command, work: CommandAction) => void;
