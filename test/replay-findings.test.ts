/**
 * What `analyze` finds in `examples/analyze`, replayed on real servers: each confirmed anomaly is observed at the level that it was found at, and its
 * change prevents it or makes its order infeasible. docs/replay.md has the table. All of them run with MOIRAI_HEAVY=1.
 */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import {
  analyze,
  type Anomaly,
  type Application,
  type Change,
  type WitnessDefinition,
  witnessProgram,
} from '../src/analyze/index.ts';
import { defaultIsolation } from '../src/database/index.ts';
import { changedWitness } from '../src/analyze/changes.ts';
import { loadTypeScript } from '../src/analyze/source/index.ts';
import { type RealServer, replayOn } from '../src/replay/index.ts';
import { readApplication } from './support/benchmark-applications.ts';
import { root } from './support/cli.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';

const ts = await loadTypeScript();
const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

const local = { hostname: '127.0.0.1', password: '', database: '' };
const servers: Readonly<Record<WitnessDefinition['dialect'], RealServer>> = {
  postgres: { ...local, dialect: 'postgres', port: postgres?.port ?? 0, user: 'postgres' },
  mysql: { ...local, dialect: 'mysql', port: mariadb?.port ?? 0, user: 'root' },
};
const isMissing = postgres === undefined || mariadb === undefined;
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

interface Finding {
  readonly name: string;
  readonly found: WitnessDefinition;
  readonly mended: WitnessDefinition;
}

/** The confirmed ones, each with its change and those of the findings before it. */
function findingsOf(anomalies: readonly Anomaly[]): Finding[] {
  const changes: Change[] = [];
  return anomalies.flatMap(({ name, transactions, status, fix }) => {
    changes.push(...(fix?.changes ?? []));
    if (status.kind !== 'confirmed') return [];
    const found = status.program;
    return [{ name: `${name}: ${transactions.join(', ')}`, found, mended: mended(found, [...changes], transactions) }];
  });
}

function mended(
  found: WitnessDefinition,
  changes: readonly Change[],
  transactions: readonly string[],
): WitnessDefinition {
  const nameOf = (session: string): string => transactions.find((name) => session.startsWith(`${name} `)) ?? '';
  const changed = changedWitness(found, changes, (at) => nameOf(found.sessions[at]?.name ?? ''));
  const sessions = changed.sessions.map((session) => {
    const isAround = changes.some(({ kind, transaction }) => kind === 'around' && transaction === nameOf(session.name));
    return isAround ? { ...session, scope: 'one transaction' as const } : session;
  });
  return { ...changed, sessions };
}

async function verdictOn(definition: WitnessDefinition, before: WitnessDefinition | null): Promise<string> {
  const options = { isolation: null, token: null, repeat: 1, timeMaxMs: 60_000, timeoutMs: 20_000, signal: undefined };
  const { levels } = await replayOn(witnessProgram(definition), {
    ...options,
    server: servers[definition.dialect],
    before: before === null ? null : witnessProgram(before),
  });
  const verdict = levels[0]?.verdict;
  if (verdict?.kind === 'prevented') return verdict.code === null ? 'prevented' : `prevented, ${verdict.code}`;
  return verdict?.kind ?? 'nothing';
}

/** In `examples/analyze`: a folder of sources, or a module that says what the transactions are. */
interface Example {
  readonly name: string;
  readonly dialect: WitnessDefinition['dialect'];
  /** Is it replayed in every run of the tests? */
  readonly isSmall: boolean;
}

const examples: readonly Example[] = [
  { name: 'coupons.ts', dialect: 'postgres', isSmall: true },
  { name: 'deposit/application.ts', dialect: 'postgres', isSmall: true },
  { name: 'deposit/src', dialect: 'postgres', isSmall: true },
  { name: 'documents/src', dialect: 'postgres', isSmall: true },
  { name: 'shop/src', dialect: 'postgres', isSmall: true },
  { name: 'shop/fixed', dialect: 'postgres', isSmall: true },
  { name: 'wikipedia/src', dialect: 'mysql', isSmall: true },
  { name: 'smallbank/application.ts', dialect: 'postgres', isSmall: false },
  { name: 'smallbank/src', dialect: 'postgres', isSmall: false },
  { name: 'smallbank/atomic', dialect: 'postgres', isSmall: false },
  { name: 'smallbank-mysql/src', dialect: 'mysql', isSmall: false },
  { name: 'seats/src', dialect: 'postgres', isSmall: false },
  { name: 'tatp/src', dialect: 'postgres', isSmall: false },
  { name: 'tpcc/src', dialect: 'postgres', isSmall: false },
  { name: 'tpcc/keyed', dialect: 'postgres', isSmall: false },
  { name: 'twitter/src', dialect: 'postgres', isSmall: false },
  { name: 'voter/src', dialect: 'postgres', isSmall: false },
  { name: 'voter/limited', dialect: 'postgres', isSmall: false },
];

async function applicationOf({ name, dialect }: Example): Promise<Application> {
  if (!name.endsWith('.ts')) return readApplication({ folder: name, dialect }, ts);
  const module = (await import(`${root}examples/analyze/${name}`)) as { readonly default: Application };
  return module.default;
}

/** The rows of the table in docs/replay.md. */
const text = readFileSync(`${root}docs/replay.md`, 'utf8');
const rows = text.split('\n').filter((line) => / \| observed \| /.test(line));

describe.skipIf(isMissing)('every finding is observed, and its change ends it', () => {
  test.each(examples.filter(({ isSmall }) => isHeavy || isSmall))('$name', async (example) => {
    const { name: source, dialect } = example;
    const application = await applicationOf(example);
    const { anomalies, unitAnomalies } = await analyze(application, { isolation: defaultIsolation[dialect] });
    const replayed: string[] = [];
    for (const { name, found, mended: changed } of findingsOf([...anomalies, ...unitAnomalies])) {
      const levels = new Set(found.sessions.map(({ level }) => level));
      const verdicts = [await verdictOn(found, null), await verdictOn(changed, found)];
      replayed.push(`| \`${source}\` | ${name} | ${[...levels].join(', ')} | ${verdicts.join(' | ')} |`);
    }
    expect(replayed).toEqual(rows.filter((row) => row.startsWith(`| \`${source}\` |`)));
  });
});

test('in the documentation every finding is observed, and its change prevents it or makes it infeasible', () => {
  const without = examples.filter(({ name }) => !rows.some((row) => row.startsWith(`| \`${name}\` |`)));
  const [, listed = ''] = /^.*(In `documents.*) `analyze` confirms none\.$/m.exec(text) ?? [];
  expect(without.map(({ name }) => name)).toEqual([...listed.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  for (const row of rows) expect(row).toMatch(/\| observed \| (?:prevented(?:, \d+)?|infeasible) \|$/);
});
