/** `npm run bench -- NAME [--quick] [--svg=FOLDER]`, `live` also with settings of its own: runs one benchmark and prints its table, with the machine and the commit that it ran on. */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { analyzeApplications } from './analyze.ts';
import type { BenchOptions } from './bench-options.ts';
import { check } from './check.ts';
import { exploreClients } from './explore.ts';
import { listAppend } from './list-append.ts';
import { live, liveSettings } from './live.ts';
import { monkeydb } from './monkeydb.ts';
import { oltp } from './oltp.ts';
import { protocol } from './protocol.ts';
import { record } from './record.ts';
import { serve } from './serve.ts';
import { verify, verifySettings } from './verify.ts';

const benches: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  analyze: analyzeApplications,
  check,
  explore: exploreClients,
  'list-append': listAppend,
  live,
  monkeydb,
  oltp,
  protocol,
  record,
  serve,
  verify,
};

const [name = '', ...flags] = process.argv.slice(2);
const bench = benches[name];
const settings = new Map(flags.filter((flag) => flag !== '--quick').map(settingOf));
const settingsOf: Readonly<Record<string, readonly string[]>> = {
  live: liveSettings,
  explore: ['seconds'],
  verify: verifySettings,
};
const known = new Set(['svg', ...(settingsOf[name] ?? [])]);
if (bench === undefined || [...settings.keys()].some((key) => !known.has(key))) {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join('|')} [--quick] [--svg=FOLDER]`);
  console.error('of explore: --seconds=LIMIT of one search');
  console.error('of verify: --only=growth|offline|server');
  console.error(`of live: ${liveSettings.map((setting) => `--${setting}=...`).join(' ')}`);
  process.exitCode = 3;
} else {
  console.log(`${name}: ${machine()}`);
  const svgFolder = settings.get('svg') ?? null;
  await bench({ quick: flags.includes('--quick'), svgFolder, settings, print: (line = '') => console.log(line) });
}

function settingOf(flag: string): [string, string] {
  const [, key = flag, value = ''] = /^--([a-z]+)=(.*)$/.exec(flag) ?? [];
  return [key, value];
}

function machine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return `commit ${commit}, Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}`;
}
