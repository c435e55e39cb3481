/**
 * A SQL program of a few transactions on a few rows that holds if every run is serializable by what can be seen: some serial order of the transactions
 * that committed shows each of them the same rows and leaves the same final state. The serial orders run on databases of their own.
 */
import { type SqlConnection, type SqlProgram, sqlProgram } from '../program/index.ts';
import { connectingAs } from './connecting.ts';
import { engineOf } from './engines.ts';
import { type RunSession, runStatements } from './run-session.ts';
import type { Ran } from './run-steps.ts';
import { outcomeText, readState, SerialOutcomes } from './serial-outcomes.ts';
import type { AnomalyKind, WitnessDefinition } from './witness-definition.ts';

const differing: Readonly<Record<AnomalyKind, string>> = {
  internal: 'the final state',
  external: 'what they read',
  overwritten: 'what they wrote',
};

/**
 * A SQL program that holds if every run is serializable by what can be seen. The programs of `moirai analyze --out` are such.
 * @param onAnomaly called where a run is not
 */
export function witnessProgram(
  definition: WitnessDefinition,
  onAnomaly: (kind: AnomalyKind) => void = () => undefined,
): SqlProgram {
  const run = runStatements(definition.dialect);
  return programOf(definition, run, onAnomaly, new SerialOutcomes(definition, run, undefined));
}

/** The same with sessions that run in any way. @param serial of the definition, with these sessions */
export function programOf(
  definition: WitnessDefinition,
  run: RunSession,
  onAnomaly: (kind: AnomalyKind) => void,
  serial: SerialOutcomes,
): SqlProgram {
  return sqlProgram({
    dialect: definition.dialect,
    schema: definition.schema,
    sessions: Object.fromEntries(
      definition.sessions.map((session) => [
        session.name,
        (connection: SqlConnection) => run(session, connectingAs(connection)),
      ]),
    ),
    invariant: async (end) => {
      const client = await engineOf[definition.dialect].connect(connectingAs(end));
      const state = await readState(definition, client);
      client.end();
      const ran = end.results as Readonly<Record<string, Ran>>;
      // Half of a unit is no transaction of any serial order.
      if (definition.sessions.some(({ name }) => ran[name]?.end === 'partial')) return true;
      // A run that was refused wrote nothing, and its caller knows: the others are compared without it.
      const committed = definition.sessions
        .filter(({ name }) => ran[name]?.end === 'committed' && !ran[name].isRefused)
        .map(({ name }) => name);
      const seen = outcomeText(committed, ran, state, definition);
      const explained = await serial.explains(committed, seen);
      if (explained === 'all') return true;
      const beside = definition.compared === 'state and reads' ? 'external' : 'overwritten';
      const kind = explained === 'state' ? beside : 'internal';
      onAnomaly(kind);
      if (committed.length === 0) return 'no session committed, and the final state is not the one before them';
      return `no serial order of ${committed.join(', ')} explains ${differing[kind]}`;
    },
  });
}
