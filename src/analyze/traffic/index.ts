/** Recorded statements as a source of `moirai analyze`: a trace of any client, or a SQL program whose sessions run alone. */
export {
  applicationFromTraffic,
  type TrafficApplication,
  type TrafficOptions,
  type TrafficProgram,
} from './application-from-traffic.ts';
export { sessionOfConnection, trafficOfProgram } from './program-traffic.ts';
export { type PlacedStatement, type RanTraffic, RanTransactions } from './ran-transactions.ts';
export { trafficText } from './traffic-text.ts';
