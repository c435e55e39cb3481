/** Carries out what is asked of the mock database itself (`admin-command.ts`). */
import { formatHistoryLines } from '../history/index.ts';
import type { ResultColumn, StatementResult } from '../sql/index.ts';
import type { AdminCommand } from './instance/admin-command.ts';
import { formatChoices } from './instance/choices.ts';
import type { SqlDatabase } from './database.ts';
import type { Session } from './sql-session.ts';
import { emptyResult, linesResult, textColumn } from './statement/statement-result.ts';

export function adminColumns(command: AdminCommand): readonly ResultColumn[] | null {
  return command.kind === 'history' || command.kind === 'choices' ? [textColumn('line')] : null;
}

/** @throws SqlError, InputError */
export function administer(command: AdminCommand, database: SqlDatabase, session: Session | null): StatementResult {
  switch (command.kind) {
    case 'reset':
      database.reset();
      return emptyResult('RESET');
    case 'start':
      database.start();
      return emptyResult('START');
    case 'seed':
      database.reseed(command.seed);
      return emptyResult('SEED');
    case 'level':
      database.setLevel(command.level);
      return emptyResult('LEVEL');
    case 'strong-reads':
      if (session !== null) session.readsStrongly = command.isOn;
      return emptyResult('STRONG READS');
    case 'history':
      return linesResult('HISTORY', formatHistoryLines(database.history()));
    case 'choices':
      return linesResult('CHOICES', formatChoices(database.decisions));
  }
}
