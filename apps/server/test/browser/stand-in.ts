/** What a wallet scans. */
export const linkUri = `wc:${'7f'.repeat(32)}@2?relay-protocol=irn&symKey=${'5c'.repeat(32)}&expiryTimestamp=1800000000`;

/**
 * A module with the interface of `@walletconnect/ethereum-provider`, for a wallet that a test gave the page. `scan()` does
 * what a wallet does that scans the code. Like the original it answers eth_chainId with a number.
 */
export const standIn = `
class EthereumProvider {
  #listeners = [];
  #session = false;
  static async init(options) {
    globalThis.remoteOptions = options;
    return new EthereumProvider();
  }
  on(name, listener) {
    this.#listeners.push([name, listener]);
    globalThis.remoteProvider.on(name, listener);
  }
  async enable() {
    if (!this.#session) {
      const scanned = new Promise((resolve) => { globalThis.scan = resolve; });
      for (const [name, listener] of this.#listeners) if (name === 'display_uri') listener(${JSON.stringify(linkUri)});
      await scanned;
      this.#session = true;
    }
    return this.request({ method: 'eth_requestAccounts' });
  }
  async request(asked) {
    const answer = await globalThis.remoteProvider.request(asked);
    return asked.method === 'eth_chainId' ? Number(answer) : answer;
  }
}
export { EthereumProvider };
`;
