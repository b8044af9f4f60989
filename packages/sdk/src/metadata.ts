/**
 * Says for TypeScript what the metadata of your sessions has. Sessions of payment links have none.
 *
 * @example
 * declare module '@florin/sdk' {
 *   interface Shop {
 *     metadata: { order: string };
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: a shop adds its member.
export interface Shop {}

/** What a session's metadata is: as the shop declares it, else anything. */
export type SessionMetadata = Shop extends { metadata: infer Own } ? Own : { [name: string]: unknown };

/** What a shop gives. */
export type GivenMetadata = Shop extends { metadata: infer Own } ? Own : object;
