/** The product fields of a request. */
export interface ProductContent {
  readonly name: string;
  readonly description: string;
  readonly commonPrices: readonly number[];
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
}

export interface ModelProduct {
  readonly productId: string;
  content: ProductContent;
  status: 'active' | 'archived' | 'removed';
  /** Set once a link has referenced the product, which forbids removal for ever. */
  isReferenced: boolean;
  readonly events: string[];
}

/** The link fields of a request; items name products by id. */
export interface LinkContent {
  readonly linkType: 'fixed' | 'custom';
  readonly linkName: string;
  readonly feeModel: 1 | 2;
  readonly payerEmailRequired: 0 | 1;
  readonly customDisabledText: string;
  readonly maxPayments?: number;
  readonly activeUntil?: number;
  readonly items: readonly {
    readonly productId: string;
    readonly quantity: number;
    readonly unitPrice: number;
  }[];
}

export interface ModelLink {
  readonly linkId: string;
  content: LinkContent;
  status: 'active' | 'disabled';
  readonly events: string[];
}

export interface ModelSession {
  readonly sessionId: string;
  readonly amount: number;
  /** The names of the products at the time of the sale. */
  readonly productNames: readonly string[];
  readonly expiresAtSeconds: number;
  status: 'initialized' | 'cancelled' | 'expired';
  readonly events: string[];
}

/** A simple model of the merchant API: three lists, newest first. */
export class MerchantModel {
  readonly products: ModelProduct[] = [];
  readonly links: ModelLink[] = [];
  readonly sessions: ModelSession[] = [];
  /** The version of each link and content, and the reverse. */
  readonly versionOf = new Map<string, string>();
  readonly contentOf = new Map<string, string>();

  product(productId: string): ModelProduct | undefined {
    return this.products.find((product) => product.productId === productId);
  }

  /** Products that appear in lists. */
  get shownProducts(): ModelProduct[] {
    return this.products.filter((product) => product.status !== 'removed');
  }

  /** The code that refuses a sale of these products; 0 when all can be sold. */
  sellingCode(productIds: readonly string[]): number {
    const distinct = [...new Set(productIds.filter((productId) => productId !== ''))];
    const status = (productId: string) => this.product(productId)?.status ?? 'removed';
    const missing = distinct.filter((productId) => status(productId) === 'removed').length;
    if (missing > 0) return missing === distinct.length ? 100301 : 100302;
    const archived = distinct.filter((productId) => status(productId) === 'archived').length;
    if (archived > 0) return archived === distinct.length ? 100304 : 100303;
    return 0;
  }

  /** The code of an action on a product. */
  productCode(product: ModelProduct | undefined): number {
    if (product === undefined) return 100301;
    return product.status === 'removed' ? 100306 : 0;
  }

  /** Archiving disables every active link that shows the product. */
  archive(product: ModelProduct): void {
    if (product.status === 'archived') return;
    product.status = 'archived';
    product.events.push('product.archived');
    for (const link of this.links) {
      const shows = link.content.items.some((item) => item.productId === product.productId);
      if (!shows || link.status === 'disabled') continue;
      link.status = 'disabled';
      link.events.push('payment.link.disabled');
    }
  }

  /** The terms that a link's payer agrees to, in one spelling: the version changes exactly with it. */
  agreed(link: ModelLink): string {
    const shown = link.content.items.map((item) => {
      const product = this.product(item.productId)?.content;
      return {
        item,
        name: product?.name,
        description: product?.description,
        attributes: product?.attributes,
      };
    });
    return JSON.stringify([link.linkId, { ...link.content, items: undefined }, shown]);
  }

  linkAmount(content: LinkContent): number {
    return content.items.reduce((sum, item) => sum + item.quantity * item.unitPrice, 0);
  }

  /** Expires sessions whose time is over. */
  expire(nowSeconds: number): void {
    for (const session of this.sessions) {
      if (session.status !== 'initialized' || session.expiresAtSeconds > nowSeconds) continue;
      session.status = 'expired';
      session.events.push('session.expired');
    }
  }
}
