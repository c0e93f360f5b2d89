// npm run faults -- [backup] [options]: see reliability.ts and backup-kills/backup-kills.ts
const [what] = process.argv.slice(2);
if (what === "backup") await import("./backup-kills/backup-kills.js");
else await import("./reliability.js");
