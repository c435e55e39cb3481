/** The checkpoint of `moirai explore`: written while it explores, at its end and where it is interrupted; the last good one stays where that fails. */
import { closeSync, readSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { formatInputError, InputError } from '../../base/index.ts';
import type { ExploreCheckpoint } from '../../explore/index.ts';
import { holdFile, writeWhole } from '../../files/index.ts';
import type { AnySqlCheckpoint } from '../../explore/sql/index.ts';
import { type CheckpointTool, openCheckpoint, refuse, sealedCheckpoint } from '../files/checkpoint-file.ts';
import type { ExploreCommandOptions } from './explore-options.ts';
import type { Host, Ending } from '../host.ts';
import { type SourceFile, sourceOf } from '../modules/source-files.ts';

const tool: CheckpointTool = { tool: 'explore', subject: 'program' };

/** Of a program that reads and writes keys, or of one that speaks SQL. */
type AnyCheckpoint = ExploreCheckpoint | AnySqlCheckpoint;

type Files = Pick<ExploreCommandOptions, 'checkpoint' | 'resume'>;

/** Where an exploration is continued from, and written to. */
export class SavedExploration {
  readonly #files: Files;
  readonly #source: readonly SourceFile[];
  readonly #host: Pick<Host, 'err'>;
  #error: InputError | null = null;
  /** Gives the file back, which other processes may not write meanwhile. */
  readonly release: () => void;

  constructor(files: Files, source: readonly SourceFile[], host: Pick<Host, 'err'>, release = (): void => {}) {
    this.#files = files;
    this.#source = source;
    this.#host = host;
    this.release = release;
  }

  /** For `explore` or `exploreSql`, which refuse a checkpoint of the other. @throws InputError `explore/checkpoint` */
  options<C extends AnyCheckpoint>(): { readonly resume?: C; readonly onCheckpoint?: (made: C) => void } {
    const { checkpoint, resume } = this.#files;
    return {
      ...(resume === null ? {} : { resume: this.#read(resume) as C }),
      ...(checkpoint === null ? {} : { onCheckpoint: (made) => this.write(made) }),
    };
  }

  #read(file: string): AnyCheckpoint {
    const checkpoint = readExploration(file, this.#source);
    if (isComplete(checkpoint))
      this.#host.err(`${file}: the exploration was complete when this was written: nothing is left to run\n`);
    return checkpoint;
  }

  /** A disk that is full now may have room for the next. */
  write(checkpoint: AnyCheckpoint | null): void {
    const { checkpoint: file } = this.#files;
    if (file === null || checkpoint === null) return;
    try {
      writeWhole(file, checkpointBytes(checkpoint, this.#source));
      this.#error = null;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      if (this.#error === null) this.#host.err(`${formatInputError(error)}\n`);
      this.#error = error;
    }
  }

  /** With exit code 3 where the last checkpoint could not be written. */
  ended(ending: Ending): Ending {
    return this.#error === null ? ending : { ...ending, code: 3 };
  }
}

/** Before the program is loaded: what is edited while it runs is not what was explored. @throws InputError */
export async function openSaved(file: string, options: ExploreCommandOptions, host: Host): Promise<SavedExploration> {
  const { checkpoint, resume } = options;
  if (checkpoint === null && resume === null) return new SavedExploration(options, [], host);
  refuseCombinations(options);
  const release = checkpoint === null ? () => {} : holdFile(checkpoint);
  try {
    return new SavedExploration(options, await sourceOf(file), host, release);
  } catch (error) {
    release();
    throw error;
  }
}

/** @throws InputError `option/checkpoint` */
function refuseCombinations({ failsFast, replay, checkpoint, resume }: ExploreCommandOptions): void {
  const option = resume === null ? '--checkpoint' : '--resume';
  const why = (text: string): never => {
    throw new InputError('option/checkpoint', text);
  };
  if (checkpoint === '-' || resume === '-') why(`${option} needs a file that can be read again, not a stream`);
  if (failsFast) why(`--fail-fast ends with the first violation: there is nothing that ${option} could continue`);
  if (replay !== null) why(`--replay is one history: there is nothing that ${option} could continue`);
}

export function checkpointBytes(checkpoint: AnyCheckpoint, source: readonly SourceFile[]): Generator<Uint8Array> {
  return sealedCheckpoint(tool, source, positionOf(checkpoint), [serialize(checkpoint)]);
}

/** For people; what counts is the rest. */
function positionOf(checkpoint: AnyCheckpoint): object {
  if (!isOfSql(checkpoint)) {
    const { waiting, histories, violations, runs } = checkpoint;
    return { level: checkpoint.subject.level, histories, violations, runs, waiting: waiting.length };
  }
  if (!('kind' in checkpoint)) {
    const { schedules, invariantBroken, notRetried } = checkpoint.found;
    return { subject: checkpoint.subject.shape.at(-1), schedules, invariantBroken, notRetried };
  }
  const { kind } = checkpoint;
  if (kind === 'shared') return { kind, parts: checkpoint.parts.length, alone: positionOf(checkpoint.alone) };
  const current = checkpoint.current === null ? null : positionOf(checkpoint.current);
  return { kind, over: checkpoint.results.length, current };
}

/** Is nothing left to run? */
function isComplete(checkpoint: AnyCheckpoint): boolean {
  if (!isOfSql(checkpoint)) return checkpoint.waiting.length === 0;
  if (!('kind' in checkpoint)) return checkpoint.position === null;
  if (checkpoint.kind !== 'shared') return checkpoint.isComplete;
  const { alone, parts } = checkpoint;
  return alone.position === null || (parts.length > 0 && parts.every((part) => part?.position === null));
}

function isOfSql(checkpoint: AnyCheckpoint): checkpoint is AnySqlCheckpoint {
  return !('waiting' in checkpoint);
}

/** @throws InputError `explore/checkpoint` where the file is none, is damaged, or is of another program or version */
export function readExploration(file: string, source: readonly SourceFile[]): AnyCheckpoint {
  const { descriptor, from, bytes } = openCheckpoint<unknown>(tool, file, source);
  try {
    const rest = new Uint8Array(bytes);
    for (let at = 0; at < bytes; ) {
      const read = readSync(descriptor, rest, at, bytes - at, from + at);
      if (read === 0) refuse(tool, file, 'the checkpoint has become shorter while it was read');
      at += read;
    }
    return deserialize(rest) as AnyCheckpoint;
  } finally {
    closeSync(descriptor);
  }
}
