import type { StoreCosts } from "@xo-server/store";
import type { ExitCode } from "../lifecycle/exit-code.js";

/** Commands on the database, also while a server runs. */
export type StoreCommand =
  | UserCommand
  | ConfigCommand
  | AuditCommand
  | LeaveCommand;

export interface LeaveCommand {
  readonly verb: "leave";
  /** Whether the server leaves even if no other server runs. */
  readonly isForced: boolean;
}

export type UserCommand =
  | { readonly verb: "user list" }
  | {
      readonly verb: "user add";
      readonly name: string;
      readonly isAdmin: boolean;
      readonly fromStdin: boolean;
    }
  | {
      readonly verb: "user password";
      readonly name: string;
      readonly fromStdin: boolean;
    }
  | {
      readonly verb: "user remove";
      readonly name: string;
      /** Whether even the last admin is deleted. */
      readonly isForced: boolean;
    }
  | { readonly verb: "user make-admin"; readonly name: string };

export type ConfigCommand =
  | {
      readonly verb: "config export";
      /** `-`: standard output. */
      readonly file: string;
      /** Whether an existing file is replaced. */
      readonly isForced: boolean;
    }
  | {
      readonly verb: "config import";
      /** `-`: standard input. */
      readonly file: string;
      /** Whether the command runs without asking for confirmation. */
      readonly isConfirmed: boolean;
      readonly allowNoAdmin: boolean;
    };

export type AuditCommand =
  | { readonly verb: "audit accept" }
  | { readonly verb: "audit verify" }
  | {
      readonly verb: "audit list";
      readonly user?: string;
      readonly operation?: string;
      readonly objectId?: string;
      readonly limit: number;
      readonly json: boolean;
    }
  /** `before` in ms. */
  | { readonly verb: "audit prune"; readonly before: number };

export interface StoreCommandOptions {
  /** Default: those of openStore. */
  readonly storeCosts?: StoreCosts;
  readonly configPath: string | undefined;
  readonly dataDir: string | undefined;
  readonly command: StoreCommand;
  /** Reads the standard input to its end. */
  readonly readInput: () => Promise<string>;
  /** Prompts for a secret without echo. */
  readonly readSecret?: (question: string) => Promise<string>;
  /** Prompts for a line; absent: there is no terminal. */
  readonly readLine?: ((question: string) => Promise<string>) | undefined;
  /** Standard input and output, used for files named `-`. */
  readonly input?: AsyncIterable<Uint8Array>;
  readonly output?: (bytes: Uint8Array) => Promise<void>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface CommandResult {
  readonly text: string;
  /** The standard output contains the bytes of a file, so `text` goes to the error output. */
  readonly isOutputUsed?: boolean;
  readonly code: ExitCode;
}
