/** `moirai doctor`: what is installed here, and which commands need what is not. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, platform } from 'node:os';
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { ExitCode, Host } from './host.ts';
import { moiraiVersion } from './own-files.ts';

export function addDoctor(moirai: Command, host: Host, end: (code: ExitCode) => void): void {
  moirai
    .command('doctor')
    .description('What is installed here, and which commands need what is not.')
    .option('--json', 'print one JSON object and nothing else')
    .option('--debug', 'print the stack of an error')
    .addHelpText('after', doctorHelp)
    .action(async ({ json = false }) => {
      end(await doctorCommand(json, host));
    });
}

interface Need {
  readonly name: string;
  /** What is lacking without it. */
  readonly for: string;
  readonly install: string;
  /** Its version; `null`: it is not there. */
  readonly find: (host: Host) => string | null | Promise<string | null>;
}

/** Everything else comes with moirai. */
const needs: readonly Need[] = [
  {
    name: 'typescript',
    for: 'analyze, which reads source with the API of TypeScript 5 or 6',
    install: 'npm install --save-dev typescript@6',
    find: () => versionOf('typescript', /^[56]\./) ?? versionOf('@typescript/typescript6', /./),
  },
  { name: 'git', for: 'analyze --changed', install: 'install git', find: gitVersion },
  driver('pg', 8, 'workload and applications that use it, recorded or under test, on PostgreSQL'),
  driver('postgres', 3, 'applications that use it, recorded or under test'),
  driver('mysql2', 3, 'workload and applications that use it, recorded or under test, on MySQL'),
  driver('mariadb', 3, 'applications that use it, recorded'),
];

function driver(name: string, major: number, use: string): Need {
  return {
    name,
    for: use,
    install: `npm install ${name}@${major}`,
    find: () => versionOf(name, new RegExp(`^${major}\\.`)),
  };
}

async function doctorCommand(isJson: boolean, host: Host): Promise<ExitCode> {
  const found = await Promise.all(needs.map(async (need) => ({ need, version: await need.find(host) })));
  const processors = availableParallelism();
  if (isJson) {
    const packages = found.map(({ need, version }) => ({ name: need.name, version, for: need.for }));
    const system = { moirai: moiraiVersion(), node: process.versions.node, platform: platform(), arch: arch() };
    host.out(`${JSON.stringify({ ...system, processors, packages })}\n`);
    return 0;
  }
  host.out(
    `moirai ${moiraiVersion()}, Node.js ${process.versions.node}, ${platform()} ${arch()}, ${processors} processors\n`,
  );
  for (const { need, version } of found) {
    const state = version === null ? 'missing' : 'found';
    const action = version === null ? `; to have it: ${need.install}` : '';
    host.out(`${state.padEnd(8)}${`${need.name} ${version ?? ''}`.padEnd(20)}for ${need.for}${action}\n`);
  }
  host.out('all other commands need nothing else\n');
  return 0;
}

async function gitVersion(host: Host): Promise<string | null> {
  return /\d+(?:\.\d+)+/.exec((await host.git(['--version'])) ?? '')?.[0] ?? null;
}

/** Of a package that is found from the working directory or from moirai, as the commands look for it; `null` where it is none of those. */
function versionOf(name: string, wanted: RegExp): string | null {
  const froms = [join(process.cwd(), 'package.json'), import.meta.url];
  const folders = froms.flatMap((from) => createRequire(from).resolve.paths(name) ?? []);
  const manifest = folders.map((folder) => join(folder, name, 'package.json')).find((file) => existsSync(file));
  if (manifest === undefined) return null;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return wanted.test(version) ? version : null;
}

const doctorHelp = `
It asks nothing of the network. Exit codes: 0, whatever is missing; 4 a failure of moirai itself.
`;
