// Written by scripts/generate-sdk.ts.
import type { EventType } from './wire.gen.ts';

/** `data` of an example of each type of event. Their ids exist in no installation. */
export const fixtureData: { readonly [Type in EventType]: Record<string, object | string> } = {
  'account.created': {
    "account": {
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "accountType": "EVM::ADDR",
      "settlementCurrencies": [
        "base::usdc",
        "ethereum::usdc"
      ],
      "version": "acv_GnGzyme3EkWhl8fiOJTDOa",
      "status": "normal",
      "settlementMode": "",
      "createAt": "2026-01-02 02:00:00",
      "updateAt": "2026-01-02 02:00:00"
    }
  },
  'account.updated': {
    "account": {
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "accountType": "EVM::ADDR",
      "settlementCurrencies": [
        "base::usdc",
        "ethereum::usdc"
      ],
      "version": "acv_GnGzyme3EkWhl8fiOJTDOa",
      "status": "normal",
      "settlementMode": "",
      "createAt": "2026-01-02 02:00:00",
      "updateAt": "2026-01-02 02:00:00"
    }
  },
  'account.removed': {
    "account": {
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "accountType": "EVM::ADDR",
      "settlementCurrencies": [
        "base::usdc",
        "ethereum::usdc"
      ],
      "version": "acv_GnGzyme3EkWhl8fiOJTDOa",
      "status": "normal",
      "settlementMode": "",
      "createAt": "2026-01-02 02:00:00",
      "updateAt": "2026-01-02 02:00:00"
    }
  },
  'account.change_planned': {
    "accountChange": {
      "changeId": "acg_3kTq8ZbYw1LhVx5RmN7pCd",
      "kind": "add",
      "status": "waiting",
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "previousAddress": "",
      "settlementCurrencies": [
        "base::usdc",
        "ethereum::usdc"
      ],
      "settlementMode": "",
      "isProven": true,
      "accountId": "",
      "effectiveAt": "2026-01-02 02:00:00",
      "createAt": "2026-01-02 02:00:00"
    }
  },
  'account.change_cancelled': {
    "accountChange": {
      "changeId": "acg_3kTq8ZbYw1LhVx5RmN7pCd",
      "kind": "add",
      "status": "cancelled",
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "previousAddress": "",
      "settlementCurrencies": [
        "base::usdc",
        "ethereum::usdc"
      ],
      "settlementMode": "",
      "isProven": true,
      "accountId": "",
      "effectiveAt": "2026-01-02 02:00:00",
      "createAt": "2026-01-02 02:00:00"
    }
  },
  'product.created': {
    "product": {
      "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
      "name": "Green tea",
      "description": "One kilogram of loose leaves",
      "imageUrl": "",
      "imageStatus": "none",
      "imageReason": "",
      "status": "active",
      "commonPrices": [
        10000000
      ],
      "attributes": [
        {
          "name": "Origin",
          "value": "Uji"
        }
      ],
      "createAt": "2026-01-02 02:30:00",
      "updateAt": "2026-01-02 02:30:00"
    }
  },
  'product.updated': {
    "product": {
      "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
      "name": "Green tea",
      "description": "One kilogram of loose leaves",
      "imageUrl": "",
      "imageStatus": "none",
      "imageReason": "",
      "status": "active",
      "commonPrices": [
        10000000
      ],
      "attributes": [
        {
          "name": "Origin",
          "value": "Uji"
        }
      ],
      "createAt": "2026-01-02 02:30:00",
      "updateAt": "2026-01-02 02:30:00"
    }
  },
  'product.archived': {
    "product": {
      "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
      "name": "Green tea",
      "description": "One kilogram of loose leaves",
      "imageUrl": "",
      "imageStatus": "none",
      "imageReason": "",
      "status": "archived",
      "commonPrices": [
        10000000
      ],
      "attributes": [
        {
          "name": "Origin",
          "value": "Uji"
        }
      ],
      "createAt": "2026-01-02 02:30:00",
      "updateAt": "2026-01-02 02:30:00"
    }
  },
  'product.unarchived': {
    "product": {
      "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
      "name": "Green tea",
      "description": "One kilogram of loose leaves",
      "imageUrl": "",
      "imageStatus": "none",
      "imageReason": "",
      "status": "active",
      "commonPrices": [
        10000000
      ],
      "attributes": [
        {
          "name": "Origin",
          "value": "Uji"
        }
      ],
      "createAt": "2026-01-02 02:30:00",
      "updateAt": "2026-01-02 02:30:00"
    }
  },
  'product.removed': {
    "product": {
      "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
      "name": "Green tea",
      "description": "One kilogram of loose leaves",
      "imageUrl": "",
      "imageStatus": "none",
      "imageReason": "",
      "status": "archived",
      "commonPrices": [
        10000000
      ],
      "attributes": [
        {
          "name": "Origin",
          "value": "Uji"
        }
      ],
      "createAt": "2026-01-02 02:30:00",
      "updateAt": "2026-01-02 02:30:00"
    }
  },
  'payment.link.created': {
    "link": {
      "linkId": "lnk_Gr7n0KlugynWtQSL2Kk02b",
      "linkType": "fixed",
      "linkName": "Tea shop",
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 10000000,
      "payerEmailRequired": 0,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "customSuccessText": "Thank you! The tea is on its way.",
      "customDisabledText": "",
      "linkUrl": "https://pay.example.com/link/lnk_Gr7n0KlugynWtQSL2Kk02b",
      "status": "active",
      "versionCode": "ver_FA9drThD52dKsv9XqaeEyD",
      "createAt": "2026-01-02 02:40:00",
      "updateAt": "2026-01-02 02:40:00",
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_JVKX57V18j0KbXOPits9tL",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 1,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ],
              "status": "active"
            }
          }
        ]
      },
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementTokenInfo": {
        "tokenId": "base::usdc",
        "contractAddress": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "name": "USD Coin",
        "symbol": "USDC",
        "decimals": 6,
        "chainId": "8453"
      }
    }
  },
  'payment.link.updated': {
    "link": {
      "linkId": "lnk_Gr7n0KlugynWtQSL2Kk02b",
      "linkType": "fixed",
      "linkName": "Tea shop",
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 10000000,
      "payerEmailRequired": 0,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "customSuccessText": "Thank you! The tea is on its way.",
      "customDisabledText": "",
      "linkUrl": "https://pay.example.com/link/lnk_Gr7n0KlugynWtQSL2Kk02b",
      "status": "active",
      "versionCode": "ver_FA9drThD52dKsv9XqaeEyD",
      "createAt": "2026-01-02 02:40:00",
      "updateAt": "2026-01-02 02:40:00",
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_JVKX57V18j0KbXOPits9tL",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 1,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ],
              "status": "active"
            }
          }
        ]
      },
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementTokenInfo": {
        "tokenId": "base::usdc",
        "contractAddress": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "name": "USD Coin",
        "symbol": "USDC",
        "decimals": 6,
        "chainId": "8453"
      }
    }
  },
  'payment.link.disabled': {
    "link": {
      "linkId": "lnk_Gr7n0KlugynWtQSL2Kk02b",
      "linkType": "fixed",
      "linkName": "Tea shop",
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 10000000,
      "payerEmailRequired": 0,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "customSuccessText": "Thank you! The tea is on its way.",
      "customDisabledText": "",
      "linkUrl": "https://pay.example.com/link/lnk_Gr7n0KlugynWtQSL2Kk02b",
      "status": "disabled",
      "versionCode": "ver_FA9drThD52dKsv9XqaeEyD",
      "createAt": "2026-01-02 02:40:00",
      "updateAt": "2026-01-02 02:40:00",
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_JVKX57V18j0KbXOPits9tL",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 1,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ],
              "status": "active"
            }
          }
        ]
      },
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementTokenInfo": {
        "tokenId": "base::usdc",
        "contractAddress": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "name": "USD Coin",
        "symbol": "USDC",
        "decimals": 6,
        "chainId": "8453"
      }
    }
  },
  'payment.link.enabled': {
    "link": {
      "linkId": "lnk_Gr7n0KlugynWtQSL2Kk02b",
      "linkType": "fixed",
      "linkName": "Tea shop",
      "accountId": "acc_LFnR2bDJjNsNu9SwBElfNr",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 10000000,
      "payerEmailRequired": 0,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "customSuccessText": "Thank you! The tea is on its way.",
      "customDisabledText": "",
      "linkUrl": "https://pay.example.com/link/lnk_Gr7n0KlugynWtQSL2Kk02b",
      "status": "active",
      "versionCode": "ver_FA9drThD52dKsv9XqaeEyD",
      "createAt": "2026-01-02 02:40:00",
      "updateAt": "2026-01-02 02:40:00",
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_JVKX57V18j0KbXOPits9tL",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 1,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ],
              "status": "active"
            }
          }
        ]
      },
      "accountName": "Main wallet",
      "accountAddress": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementTokenInfo": {
        "tokenId": "base::usdc",
        "contractAddress": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "name": "USD Coin",
        "symbol": "USDC",
        "decimals": 6,
        "chainId": "8453"
      }
    }
  },
  'session.created': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "",
      "receiptId": "",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 0,
      "initiateTx": "",
      "completeTx": "",
      "paymentSucceededTime": null,
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "initialized",
      "pendingReason": "",
      "intendedPayer": "",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    }
  },
  'session.payment_detected': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "",
      "receiptId": "",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 1,
      "initiateTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "completeTx": "",
      "paymentSucceededTime": null,
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "initialized",
      "pendingReason": "",
      "intendedPayer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    }
  },
  'session.paid': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "base::usdc",
      "receiptId": "rcpt_Dy67B65x1wYbFZMYHNItzn",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 1,
      "initiateTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "completeTx": "",
      "paymentSucceededTime": "2026-01-02 03:04:05",
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "paid",
      "pendingReason": "",
      "intendedPayer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    },
    "transaction": {
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "channelId": "0xcb40ef3be6ab3c4db35bb40815c9ceaae24848cb983a466a8ce3100fcdf75c86",
      "orderType": 0,
      "from": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "to": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "metaData": "0x7c416a5c5efce7125aea7731c5f069fb956bf739869fb08a894396daa05526d0",
      "totalValue": 24500000,
      "paymentValue": 24500000,
      "feeValue": 49000,
      "netValue": 24451000,
      "addedValue": 0,
      "paidAmountInToken": "24500000",
      "sourceTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "targetTx": "",
      "executeTime": "2026-01-02 03:04:05",
      "finalizeTime": ""
    }
  },
  'session.settling': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "base::usdc",
      "receiptId": "rcpt_Dy67B65x1wYbFZMYHNItzn",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 1,
      "initiateTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "completeTx": "",
      "paymentSucceededTime": "2026-01-02 03:04:05",
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "settling",
      "pendingReason": "",
      "intendedPayer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    },
    "transaction": {
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "channelId": "0xcb40ef3be6ab3c4db35bb40815c9ceaae24848cb983a466a8ce3100fcdf75c86",
      "orderType": 0,
      "from": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "to": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "metaData": "0x7c416a5c5efce7125aea7731c5f069fb956bf739869fb08a894396daa05526d0",
      "totalValue": 24500000,
      "paymentValue": 24500000,
      "feeValue": 49000,
      "netValue": 24451000,
      "addedValue": 0,
      "paidAmountInToken": "24500000",
      "sourceTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "targetTx": "",
      "executeTime": "2026-01-02 03:04:05",
      "finalizeTime": ""
    }
  },
  'session.completed': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "base::usdc",
      "receiptId": "rcpt_Dy67B65x1wYbFZMYHNItzn",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 1,
      "initiateTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "completeTx": "0x61a8413c3657f9d264eeb53db4c6b9aa636d24daec714f10ecdc1e46ae71acb8",
      "paymentSucceededTime": "2026-01-02 03:04:05",
      "settlementSucceededTime": "2026-01-02 03:04:20",
      "createAt": "2026-01-02 03:00:00",
      "status": "completed",
      "pendingReason": "",
      "intendedPayer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    },
    "transaction": {
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "channelId": "0xcb40ef3be6ab3c4db35bb40815c9ceaae24848cb983a466a8ce3100fcdf75c86",
      "orderType": 0,
      "from": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "to": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "metaData": "0x7c416a5c5efce7125aea7731c5f069fb956bf739869fb08a894396daa05526d0",
      "totalValue": 24500000,
      "paymentValue": 24500000,
      "feeValue": 49000,
      "netValue": 24451000,
      "addedValue": 0,
      "paidAmountInToken": "24500000",
      "sourceTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "targetTx": "0x61a8413c3657f9d264eeb53db4c6b9aa636d24daec714f10ecdc1e46ae71acb8",
      "executeTime": "2026-01-02 03:04:05",
      "finalizeTime": "2026-01-02 03:04:20"
    }
  },
  'session.settlement_pending': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "base::usdc",
      "receiptId": "rcpt_Dy67B65x1wYbFZMYHNItzn",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 1,
      "initiateTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "completeTx": "",
      "paymentSucceededTime": "2026-01-02 03:04:05",
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "settlement_pending",
      "pendingReason": "recipient_blocked",
      "intendedPayer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    },
    "transaction": {
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "channelId": "0xcb40ef3be6ab3c4db35bb40815c9ceaae24848cb983a466a8ce3100fcdf75c86",
      "orderType": 0,
      "from": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "to": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "metaData": "0x7c416a5c5efce7125aea7731c5f069fb956bf739869fb08a894396daa05526d0",
      "totalValue": 24500000,
      "paymentValue": 24500000,
      "feeValue": 49000,
      "netValue": 24451000,
      "addedValue": 0,
      "paidAmountInToken": "24500000",
      "sourceTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "targetTx": "",
      "executeTime": "2026-01-02 03:04:05",
      "finalizeTime": ""
    }
  },
  'session.expired': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "",
      "receiptId": "",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 0,
      "initiateTx": "",
      "completeTx": "",
      "paymentSucceededTime": null,
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "expired",
      "pendingReason": "",
      "intendedPayer": "",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    }
  },
  'session.cancelled': {
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "",
      "receiptId": "",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 0,
      "initiateTx": "",
      "completeTx": "",
      "paymentSucceededTime": null,
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "cancelled",
      "pendingReason": "",
      "intendedPayer": "",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    }
  },
  'session.exception': {
    "exception": {
      "exceptionId": "exc_7Yc2WmQ4tR9uKpB1vXsJ0d",
      "orderId": "0x7a4f0e1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7",
      "tokenId": "ethereum::usdc",
      "amountInToken": "24500000",
      "txHash": "0x3b1e9d0c8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c",
      "kind": "duplicate",
      "payer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "decision": "",
      "decideBy": ""
    },
    "session": {
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "sessionType": "chk",
      "businessId": "",
      "businessType": "",
      "clientCode": "zLKFxFeo2mSyMrMK4nMXJz",
      "payer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "payerEmail": "",
      "payerEmailRequired": 0,
      "paidToken": "base::usdc",
      "receiptId": "rcpt_Dy67B65x1wYbFZMYHNItzn",
      "recipient": "0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD",
      "settlementToken": "base::usdc",
      "feeModel": 1,
      "amount": 24500000,
      "lineItems": {
        "items": [
          {
            "lineItemId": "li_UY0a1e6TRqRQRFVaTyBWdR",
            "itemType": "product",
            "productId": "prd_eP8Q86wXwfDMjUdHWeDg6D",
            "quantity": 2,
            "unitPrice": 10000000,
            "productData": {
              "productName": "Green tea",
              "productDescription": "One kilogram of loose leaves",
              "imageUrl": "",
              "attributes": [
                {
                  "name": "Origin",
                  "value": "Uji"
                }
              ]
            }
          },
          {
            "lineItemId": "li_EuVtnPBQyTZrGnuiA0TCdv",
            "itemType": "one_time",
            "productId": "",
            "quantity": 1,
            "unitPrice": 4500000,
            "productData": {
              "productName": "Gift wrapping",
              "productDescription": "",
              "imageUrl": "",
              "attributes": []
            }
          }
        ]
      },
      "expirationTime": 1767324600,
      "successUrl": "https://shop.example.com/thanks?session={SESSION_ID}",
      "cancelUrl": "https://shop.example.com/cart",
      "customSuccessText": "Thank you! We ship on the next working day.",
      "paymentUrl": "https://pay.example.com/checkout/sess_DnhPU22hm3H4P2tyZClFPv#zLKFxFeo2mSyMrMK4nMXJz",
      "signedOnce": 1,
      "initiateTx": "0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a",
      "completeTx": "",
      "paymentSucceededTime": "2026-01-02 03:04:05",
      "settlementSucceededTime": null,
      "createAt": "2026-01-02 03:00:00",
      "status": "paid",
      "pendingReason": "",
      "intendedPayer": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "refundedAmount": 0,
      "metadata": {
        "orderNumber": "A-1042"
      }
    }
  },
  'refund.created': {
    "refund": {
      "refundId": "rfd_2HkLmN7pQs9tVwXyZ0aBcD",
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "exceptionId": "",
      "amount": 24500000,
      "status": "pending",
      "reason": "Sold out",
      "txHash": "",
      "cancelledAt": "",
      "createAt": "2026-01-02 03:04:10",
      "updateAt": "2026-01-02 03:20:00"
    }
  },
  'refund.completed': {
    "refund": {
      "refundId": "rfd_2HkLmN7pQs9tVwXyZ0aBcD",
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "exceptionId": "",
      "amount": 24500000,
      "status": "completed",
      "reason": "Sold out",
      "txHash": "0x0d1a7c0e7ad0f6b7f0a5f5a2f1d9d9b1c8a2d4f7c3b5e6a9f8071625344352ab",
      "cancelledAt": "",
      "createAt": "2026-01-02 03:04:10",
      "updateAt": "2026-01-02 03:20:00"
    }
  },
  'refund.failed': {
    "refund": {
      "refundId": "rfd_2HkLmN7pQs9tVwXyZ0aBcD",
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "exceptionId": "",
      "amount": 24500000,
      "status": "failed",
      "reason": "Sold out",
      "txHash": "",
      "cancelledAt": "",
      "createAt": "2026-01-02 03:04:10",
      "updateAt": "2026-01-02 03:20:00"
    }
  },
  'refund.cancelled': {
    "refund": {
      "refundId": "rfd_2HkLmN7pQs9tVwXyZ0aBcD",
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "exceptionId": "",
      "amount": 24500000,
      "status": "cancelled",
      "reason": "Sold out",
      "txHash": "",
      "cancelledAt": "2026-01-02 03:20:00",
      "createAt": "2026-01-02 03:04:10",
      "updateAt": "2026-01-02 03:20:00"
    }
  },
  'refund.reopened': {
    "refund": {
      "refundId": "rfd_2HkLmN7pQs9tVwXyZ0aBcD",
      "sessionId": "sess_DnhPU22hm3H4P2tyZClFPv",
      "orderId": "0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e",
      "exceptionId": "",
      "amount": 24500000,
      "status": "requires_signature",
      "reason": "Sold out",
      "txHash": "0x0d1a7c0e7ad0f6b7f0a5f5a2f1d9d9b1c8a2d4f7c3b5e6a9f8071625344352ab",
      "cancelledAt": "",
      "createAt": "2026-01-02 03:04:10",
      "updateAt": "2026-01-02 03:20:00"
    }
  },
  'webhook.test': {
    "message": "A test of the webhook Orders"
  },
  'webhook.paused': {
    "webhook": {
      "webhookId": "wkid_1iujKnMMYEjNQPik00dzen",
      "webhookName": "Orders",
      "webhookDescription": "",
      "webhookUrl": "https://shop.example.com/webhooks/florin",
      "status": "paused",
      "subscribedEvents": [
        "session.*"
      ],
      "createAt": "2026-01-02 02:10:00",
      "updateAt": "2026-01-02 02:10:00"
    }
  },
};
