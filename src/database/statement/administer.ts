/** Carries out what is asked of the mock database itself (`admin-command.ts`). */
import { formatHistoryLines } from '../../history/index.ts';
import type { ResultColumn, StatementResult } from '../../sql/index.ts';
import { type AdminCommand, formatChoices, type Instance } from '../instance/index.ts';
import type { SessionState } from '../session/index.ts';
import { emptyResult, linesResult, textColumn } from './statement-result.ts';

export function adminColumns(command: AdminCommand): readonly ResultColumn[] | null {
  return command.kind === 'history' || command.kind === 'choices' ? [textColumn('line')] : null;
}

/** @param session `null`: the command is not of a session @throws SqlError, InputError */
export function administer(command: AdminCommand, instance: Instance, session: SessionState | null): StatementResult {
  instance.isAdministered = true;
  switch (command.kind) {
    case 'reset':
      instance.reset();
      return emptyResult('RESET');
    case 'start':
      instance.start();
      return emptyResult('START');
    case 'seed':
      instance.reseed(command.seed);
      return emptyResult('SEED');
    case 'level':
      instance.engine.setLevel(command.level);
      return emptyResult('LEVEL');
    case 'strong-reads':
      if (session !== null) session.readsStrongly = command.isOn;
      return emptyResult('STRONG READS');
    case 'history':
      return linesResult('HISTORY', formatHistoryLines(instance.history()));
    case 'choices':
      return linesResult('CHOICES', formatChoices(instance.choices.decisions));
  }
}
