import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const sources = readdirSync(join(root, 'src'), { recursive: true }).map((file) => file.replaceAll('\\', '/'));

// What is imported by name, started as a program or a thread. A program under test gets the very modules of the command line: one build.
export const entryPoints = new Set([
  ...Object.values(exports).flatMap((files) => files['moirai-source'] ?? []),
  ...sources
    .filter((file) => /^(?:[^/]+(?:\/sql)?\/index|cli\/main|.*-(?:worker|hook))\.ts$/.test(file))
    .map((file) => `./src/${file}`),
]);
