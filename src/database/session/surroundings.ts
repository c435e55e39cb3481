/** What functions in SQL may ask of the session and its database. */
import { SqlError, type SqlValue } from '../../sql/model/index.ts';
import type { Surroundings } from '../../sql/index.ts';
import type { SqlDatabase } from '../database.ts';
import { lockFunctions } from './lock-functions.ts';
import { activityIn, signal } from './session-activity.ts';
import type { Session } from '../sql-session.ts';

export function surroundingsOf(session: Session, database: SqlDatabase): Surroundings {
  /** The last value that this session drew from each sequence, by its id: currval knows no other. */
  const drawn = new Map<number, bigint>();
  let lastDrawn: number | null = null;
  const asked = (time: bigint): bigint => {
    if (session.options.isSetUp !== true) database.takenForGranted?.add(clockStands);
    return time;
  };
  return {
    get transactionTime() {
      return asked(session.transactionTime);
    },
    get statementTime() {
      return asked(session.statementTime);
    },
    clock: () => asked(database.clock()),
    random: () => database.random(),
    globalSetting: (name) => session.settings.global(name),
    setting: (name) => session.transactionSetting(name) ?? session.settings.get(name),
    setSetting: (name, value, isLocal) => session.setSetting(name, value, isLocal),
    user: session.options.user,
    get database() {
      return session.database;
    },
    sessionId: session.id,
    nextValue: (name) => {
      const sequence = database.catalog.sequence(name);
      database.engine.lockSequence(sequence.id, session.storedTransaction);
      const value = sequence.next();
      drawn.set(sequence.id, value);
      lastDrawn = sequence.id;
      return value;
    },
    currentValue: (name) => {
      const id = name === '' ? lastDrawn : database.catalog.sequence(name).id;
      const value = id === null ? null : (drawn.get(id) ?? null);
      if (value !== null) return value;
      throw name === ''
        ? new SqlError('55000', 'lastval is not yet defined in this session')
        : new SqlError('55000', `currval of sequence "${name}" is not yet defined in this session`);
    },
    setValue: (name, value, isCalled) => {
      const sequence = database.catalog.sequence(name);
      sequence.set(value, isCalled);
      if (isCalled) drawn.set(sequence.id, value);
      return value;
    },
    locks: lockFunctions({
      session: session.id,
      dialect: database.dialect,
      locks: () => database.engine.advisoryLocks,
      transaction: () => session.storedTransaction,
      notice: (notice) => session.watch.notices.push(notice),
      keepsSnapshot: () => database.engine.keepsSnapshot(),
      takenForGranted: database.takenForGranted,
    }),
    activity: activityIn(session, database),
    signal: (what, pid) => signal(what, pid, session, database),
    get lastInsertId() {
      return session.lastInsertId;
    },
    setLastInsertId: (value) => {
      session.lastInsertId = value;
      session.givenInsertId = value;
      return value;
    },
    get foundRows() {
      return session.foundRows;
    },
    get rowCount() {
      return session.rowCount;
    },
    describe: (what, ...names): SqlValue => {
      const answer = (): SqlValue => database.describe(what, names, session);
      // Programs ask it whether a table is there, as they ask the relations of the catalog.
      if (what === 'to_regclass')
        database.onCatalogQuery(session, {
          relation: 'pg_class',
          text: () => `oid = to_regclass('${names[0] ?? ''}')`,
          rows: () => (answer() === null ? 0 : 1),
        });
      return answer();
    },
    deferred: session.deferred,
    onCatalogQuery: (query) => database.onCatalogQuery(session, query),
  };
}

const clockStands = "SQL's clock hardly moves while the sessions run: nothing expires between two statements";
