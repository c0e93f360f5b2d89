import { Type } from "typebox";
import { section } from "./config-parts.js";

export const ImportConfig = section(
  "Imports of disks and VMs from a URL, by administrators.",
  {
    networks: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
      default: [],
      maxItems: 256,
      description:
        "Private networks and addresses from which files may be imported, such as 10.0.0.0/8. Public addresses are always allowed; private, local and link-local ones that are not listed here are refused, also after a redirect.",
    }),
  },
);
