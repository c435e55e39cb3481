import { type ConnectOptions, quoteName, type Surroundings } from '../../sql/index.ts';
import type { Instance } from '../instance/index.ts';
import { DrawnSequences } from './drawn-sequences.ts';
import { NamedStatements } from './named-statements.ts';
import type { SessionParts } from './session-parts.ts';
import { SessionState } from './session-state.ts';
import { SessionTransaction } from './session-transaction.ts';
import { surroundingsOf } from './surroundings.ts';

export function openSession(id: number, instance: Instance, options: ConnectOptions): SessionParts {
  const state = new SessionState(id, instance, options);
  const transaction: SessionTransaction = new SessionTransaction(state, instance, () => surroundings);
  const sequences = new DrawnSequences(instance, transaction);
  const surroundings: Surroundings = surroundingsOf({ instance, state, transaction, sequences });
  const named = new NamedStatements(instance.rules, (name) => state.settings.get(name));
  if (instance.rules.usesDatabases) useDatabase({ instance, state }, options.database);
  return { instance, state, transaction, named, sequences, surroundings };
}

/** A name that no CREATE DATABASE has made is the database that is there from the start: clients use what their configuration says. */
export function useDatabase({ instance, state }: Pick<SessionParts, 'instance' | 'state'>, name: string): void {
  state.database = name;
  state.settings.set('search_path', instance.catalog.hasSchema(name) ? quoteName(name) : null, false);
}
