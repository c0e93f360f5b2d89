import { WorkerError } from "@xo-server/backup";
import { XoError } from "@xo-server/model";

/** The error of a worker that reads a VM of another product, as clients see it. */
export function toImportError(error: unknown): unknown {
  if (!(error instanceof WorkerError)) return error;
  const { code, message: reason } = error;
  switch (code) {
    case "source-invalid":
    case "invalid":
      return new XoError("INVALID_PARAMETERS", { reason }, error);
    case "cancelled":
      return new XoError("ABORTED", { what: "the import" }, error);
    case "crashed":
      return new XoError("INTERNAL", { reason }, error);
    default:
      return new XoError("IMPORT_SOURCE_FAILED", { reason }, error);
  }
}
