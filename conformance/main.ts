/** `npm run conformance -- NAME [--FLAG VALUE]`: moirai beside real servers. Exit code 1: a difference that is not known; 3: wrong usage, or sources that cannot be had. */
import { parseArgs } from 'node:util';
import { formatInputError, InputError } from '../src/base/index.ts';
import type { Command } from './command.ts';
import { independence } from './independence-command.ts';
import { isolation } from './isolation.ts';
import { pairs } from './pairs-command.ts';
import { regression } from './regression-command.ts';
import { random } from './random-command.ts';
import { clientSuites } from './suites-command.ts';
import { victims } from './victims-command.ts';

interface Named {
  readonly run: Command;
  readonly flags: readonly string[];
  readonly usage: string;
}

const commands: Readonly<Record<string, Named>> = {
  random: {
    run: random,
    flags: ['engine', 'schedules', 'seed', 'first'],
    usage: 'random [--engine postgres|mysql] [--schedules 200] [--seed 1] [--first 0]',
  },
  pairs: {
    run: pairs,
    flags: ['engine', 'isolation', 'pairs', 'seed', 'first'],
    usage: "pairs [--engine postgres|mysql] [--isolation 'read committed'] [--pairs N] [--seed 1 | --first 0]",
  },
  independence: {
    run: independence,
    flags: ['engine', 'pairs', 'seed', 'first'],
    usage: 'independence [--engine postgres|mysql] [--pairs 1000] [--seed 1] [--first 0]',
  },
  victims: {
    run: victims,
    flags: ['schedules', 'seed', 'first'],
    usage: 'victims [--schedules 200] [--seed 1] [--first 0]',
  },
  isolation: { run: isolation, flags: ['spec'], usage: 'isolation [--spec NAME]' },
  suites: { run: clientSuites, flags: ['suite', 'from'], usage: 'suites [--suite NAME [--from FOLDER]]' },
  regression: { run: regression, flags: ['file'], usage: 'regression [--file NAME]' },
};

const [name = '', ...args] = process.argv.slice(2);
const command = commands[name];
const flags = command === undefined ? null : flagsOf(args, command.flags);
if (command === undefined || flags === null) {
  for (const { usage } of Object.values(commands)) console.error(`usage: npm run conformance -- ${usage}`);
  process.exitCode = 3;
} else {
  try {
    const isFine = await command.run({ flags, print: (line = '') => console.log(line) });
    process.exitCode = isFine ? 0 : 1;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    console.error(formatInputError(error));
    process.exitCode = 3;
  }
}

function flagsOf(list: string[], known: readonly string[]): ReadonlyMap<string, string> | null {
  try {
    const options = Object.fromEntries(known.map((flag) => [flag, { type: 'string' as const }]));
    const { values } = parseArgs({ args: list, options });
    return new Map(Object.entries(values).map(([key, value]) => [key, String(value)]));
  } catch {
    return null;
  }
}
