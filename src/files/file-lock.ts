/**
 * A lock against a second writer: `FILE.lock` beside the file, made with O_EXCL, which holds the process and host that write. A lock whose process is
 * dead is taken over; that of another host is not, because nothing here can tell whether its process lives.
 */
import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { InputError } from '../base/index.ts';

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When the process started, in the kernel's words; `null` where there is no /proc. A number of a process is used again. */
  readonly started: string | null;
}

/** @param shown how the user calls it @returns unlocks @throws InputError `file/locked` */
export function lockFile(file: string, shown: string): () => void {
  const lock = `${file}.lock`;
  if (!isTaken(lock)) return () => unlock(lock);
  const owner = ownerOf(lock);
  if (owner === null || !isDead(owner) || !removeStale(lock, owner)) throw locked(shown, lock, owner);
  if (isTaken(lock)) throw locked(shown, lock, ownerOf(lock));
  return () => unlock(lock);
}

/** Tries to take it. @returns whether another has it */
function isTaken(lock: string): boolean {
  const owner: Owner = { pid: process.pid, host: hostname(), started: startOf(process.pid) };
  try {
    writeFileSync(lock, `${JSON.stringify(owner)}\n`, { flag: 'wx' });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true;
    // A full disk makes the file and has no room for its text.
    unlock(lock);
    throw error;
  }
}

/** `null`: it is gone, or its writer has not filled it yet. */
function ownerOf(lock: string): Owner | null {
  try {
    const { pid, host, started } = JSON.parse(readFileSync(lock, 'utf8')) as Partial<Owner>;
    if (typeof pid !== 'number' || typeof host !== 'string') return null;
    return { pid, host, started: started ?? null };
  } catch {
    return null;
  }
}

function isDead({ pid, host, started }: Owner): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: a process of another user is alive.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const startedNow = startOf(pid);
  return started !== null && startedNow !== null && startedNow !== started;
}

/** Another process may have taken the stale lock over since it was read: the one that is moved away has to be the one that was judged. */
function removeStale(lock: string, owner: Owner): boolean {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return true; // it is gone already
  }
  const moved = ownerOf(aside);
  const isSame = moved?.pid === owner.pid && moved.started === owner.started;
  if (isSame) unlock(aside);
  else renameSync(aside, lock);
  return isSame;
}

function unlock(lock: string): void {
  try {
    unlinkSync(lock);
  } catch {
    // It is gone already.
  }
}

/** Field 22 of /proc/PID/stat (proc(5)); the name before it, in parentheses, may have spaces. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function locked(shown: string, lock: string, owner: Owner | null): InputError {
  const who = owner === null ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  return new InputError('file/locked', `${who} is writing it; if that is not so, delete ${lock}`, { file: shown });
}
