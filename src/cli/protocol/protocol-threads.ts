/** The worker threads of `moirai protocol --jobs`. */
import {
  checkProtocolOn,
  type Protocol,
  type ProtocolCheckOptions,
  type ProtocolCheckResult,
  type SearchMessage,
  type SearchReport,
} from '../../protocol/index.ts';
import { type Thread, withThreads } from '../threads/with-threads.ts';

export interface ProtocolWorkerData {
  readonly file: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly symmetry: boolean;
}

/** @throws InputError `protocol/...` where the protocol is wrong */
export function checkProtocolOnThreads(
  jobs: number,
  data: ProtocolWorkerData,
  protocol: Protocol,
  options: ProtocolCheckOptions,
): Promise<ProtocolCheckResult> {
  const check = (threads: readonly Thread<SearchMessage, SearchReport, never>[]): Promise<ProtocolCheckResult> =>
    checkProtocolOn(
      threads.map((thread) => (message) => thread(message, () => {})),
      protocol,
      options,
    );
  return withThreads(jobs, { module: 'protocol/protocol-worker', data }, check);
}
