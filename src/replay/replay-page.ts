/** A replay on a real server as the HTML report shows it: each level with its verdict, its statements in the order in which they were granted. */
import { profileText } from '../database/index.ts';
import { emptyRun, emptyStep, type ReportData, type RunPicture } from '../report/index.ts';
import type { ReplayedLevel, ReplayedOn } from './replay.ts';
import { leftOverText, verdictOfLevels, verdictText } from './replay-text.ts';

const kinds = { observed: 'violated', 'not-observed': 'satisfied', diverged: 'unknown' } as const;

/** @param heading the command */
export function replayedPage(replayed: ReplayedOn, heading: string): ReportData {
  const { server, prediction, levels, leftOver } = replayed;
  const kind = kinds[verdictOfLevels(replayed)];
  const [only] = levels;
  const text = levels.length === 1 && only !== undefined ? titleOf(only) : levels.map(titleOf).join('; ');
  return {
    heading,
    database: server,
    verdict: { kind, text },
    notes: [
      `predicted on ${profileText(prediction.profile)}: ${prediction.message}`,
      ...(leftOver.length === 0 ? [] : [leftOverText(leftOver)]),
    ],
    tables: [
      {
        title: 'Levels',
        head: ['level', 'observed', 'prevented', 'infeasible', 'diverged'],
        rows: levels.map(({ isolation, counts: { observed, prevented, infeasible, diverged } }) => ({
          cells: [isolation, ...[observed, prevented, infeasible, diverged].map(String)],
          tone: observed > 0 ? 'bad' : diverged > 0 ? null : 'good',
        })),
        note: null,
      },
    ],
    runs: levels.map(pictureOf),
  };
}

function titleOf({ isolation, verdict }: ReplayedLevel): string {
  return `${isolation}: ${verdict.kind}: ${verdictText(verdict)}`;
}

function pictureOf(level: ReplayedLevel): RunPicture {
  const sessions = [...new Set(level.statements.map(({ session }) => session))];
  return {
    ...emptyRun,
    message: titleOf(level),
    order: 'downwards: statements in the order in which the server was given them',
    sessions,
    steps: level.statements.map(({ session, sql, predicted, server, waited }) => ({
      ...emptyStep,
      session: sessions.indexOf(session),
      transaction: -1,
      text: sql,
      outcome: server === predicted ? (server ?? '') : `${server ?? 'not sent'} (predicted: ${predicted ?? 'nothing'})`,
      waitedFor: waited,
    })),
  };
}
