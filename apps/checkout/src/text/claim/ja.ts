import type { ClaimTexts } from './en.ts';

export const claimJa: ClaimTexts = {
  title: '返金の対象となる資金',
  intro:
    '入金アドレスに届いたもののこの支払いに使えない資金は、事前に入力された返金先アドレスにしか戻せません。このアドレスは、あなたも販売者も変更できません。',
  nothing: 'この支払いに入金アドレスはありません。',
  place: '{network} の入金アドレス',
  others: 'その他のアドレス（ご自身のものではない可能性があります）：{count}',
  goesTo: '返金先アドレス',
  goes: '{amount}、{why}：自動で戻ります',
  waits: '{amount}、{why}：販売者が受け入れない限り、{time} 以降に自動で戻ります',
  accepted: '{amount}、{why}：支払いとして受け入れられました',
  back: '{amount}、{why}：返送されました',
  byHand: '{amount}、{why}：少額のためサービスは返送しません。下でどのウォレットからでも返送できます',
  heldByHand:
    '{amount}、{why}：販売者は {time} まで受け入れることができます。その後は下でどのウォレットからでも返送できます',
  goesLater: '{amount}、{why}：{time} 以降に自動で戻ります',
  second: '{amount}、{why}：販売者が先に受け入れない限り戻ります',
  taken: '{amount}、{why}：販売者が受け取りました。販売者に返金を依頼してください',
  closed: '{amount}、{why}：販売者は対応済みとしています',
  allByHand: '現在、ここでは自動で戻るものはありません。どのウォレットからでも返送できます。',
  small:
    '{least} 未満は自動では戻りません。ここで扱っていないコインやトークン、支払期限から一週間を過ぎて届いた資金も同様です。どのウォレットからでも返送できます。',
  token: '送ったもの',
  coin: 'ネットワークの基軸コイン',
  other: '別のトークン',
  contract: 'トークンのコントラクトアドレス',
  look: '残高を確認',
  lies: '{amount} があります。',
  empty: 'そこにこのトークンはありません。',
  later: 'コントラクトは {time} 以降に返送を許可します。',
  sendBack: '{wallet} で返送する',
  walletHint: 'どのウォレットでも実行でき、ガス代だけがかかります。資金は上のアドレスに届きます。',
  sent: '送信しました。{network} で確認されると戻ります。',
  reclaim:
    '{time} までに販売者が受け取っていない場合、支払いは {address} に戻ります。どのウォレットからでもここで返送できます。',
  takeBack: '支払いを取り戻す',
  noScript: 'ご自身で返送するには、このページのスクリプトを許可してください。',
  toPayment: '支払いへ',
  refused: '現在は実行できません。後でもう一度お試しください。',
};
