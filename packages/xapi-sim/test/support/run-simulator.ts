import { main } from "../../src/index.js";

await main(process.argv.slice(2));
