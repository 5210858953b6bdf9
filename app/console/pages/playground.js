// Playground: a question, the context an agent would get, and how each score came about; two settings side by side.

import { html, useState } from "../vendor/preact.js";
import { request } from "../lib/api.js";
import { fraction, instant, words } from "../lib/format.js";
import { Badge, Button, Card, Empty, Failure, Field, Json, MemoryLink, Meter, PageTitle } from "../lib/ui.js";

const MODES = [["", "default"], "historical", "audit"];
const START = { query: "", user_id: "", agent_id: "", mode: "", types: "", top_k: 10, token_budget: 2000, min_confidence: "", min_relevance: "", as_of: "", known_at: "", rerank: false };

/** Return the body of a query for what the form holds. */
function bodyOf(form) {
  const body = {
    query: form.query, explain: true, user_id: form.user_id, agent_id: form.agent_id, mode: form.mode,
    types: form.types.split(/[\s,]+/).filter(Boolean), top_k: Number(form.top_k), token_budget: Number(form.token_budget),
    min_confidence: form.min_confidence === "" ? null : Number(form.min_confidence), min_relevance: form.min_relevance === "" ? null : Number(form.min_relevance), as_of: instant(form.as_of), known_at: instant(form.known_at), rerank: form.rerank || null,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== "" && value !== null && !(Array.isArray(value) && !value.length)));
}

export function PlaygroundPage({ query }) {
  const [first, setFirst] = useState({ ...START, query: query.q ?? "", user_id: query.user ?? "" });
  const [second, setSecond] = useState(null);
  const [answers, setAnswers] = useState([]);
  const run = async (event) => {
    event?.preventDefault();
    const forms = second ? [first, { ...first, ...second }] : [first];
    setAnswers(await Promise.all(forms.map((form) => request("POST", "/query", { body: bodyOf(form) }).catch((error) => ({ error })))));
  };
  return html`<${PageTitle} aside=${html`<${Button} aria-pressed=${second !== null} onClick=${() => (setSecond(second ? null : {}), setAnswers([]))}>Compare two settings<//>`}>Playground<//>
    <form onSubmit=${run} class="stack">
      <${Card}><div class="stack">
        <${Field} label="Question" value=${first.query} onChange=${(value) => setFirst((old) => ({ ...old, query: value }))} required placeholder="Where does Ana live?" />
        <div class="compare"><${Settings} form=${first} setForm=${setFirst} name=${second ? "A" : ""} />${second && html`<${Settings} form=${{ ...first, ...second }} setForm=${setSecond} name="B" />`}</div>
        <div class="actions"><button class="button primary" type="submit" disabled=${!first.query.trim()}>Ask</button></div>
      </div><//>
    </form>
    <div class="compare stack-top">${answers.map((answer, place) => html`<div class="stack">
      ${answers.length > 1 && html`<h2>${"AB"[place]}</h2>`}
      ${answer.error ? html`<${Failure} error=${answer.error} />` : html`<${Answer} answer=${answer} />`}</div>`)}</div>`;
}

function Settings({ form, setForm, name }) {
  const set = (field) => (value) => setForm((old) => ({ ...old, [field]: value }));
  return html`<fieldset class="filters plain-set"><legend class=${name ? "" : "visually-hidden"}>Settings ${name}</legend>
    <${Field} label="User" value=${form.user_id} onChange=${set("user_id")} /><${Field} label="Agent" value=${form.agent_id} onChange=${set("agent_id")} />
    <${Field} label="Mode" type="select" value=${form.mode} onChange=${set("mode")} options=${MODES} />
    <${Field} label="Types" value=${form.types} onChange=${set("types")} placeholder="fact, preference" />
    <${Field} label="Results" type="number" min="1" max="200" value=${form.top_k} onChange=${set("top_k")} />
    <${Field} label="Token budget" type="number" min="0" value=${form.token_budget} onChange=${set("token_budget")} />
    <${Field} label="Least confidence" type="number" min="0" max="1" step="0.05" value=${form.min_confidence} onChange=${set("min_confidence")} />
    <${Field} label="Least relevance" type="number" min="0" max="1" step="0.05" value=${form.min_relevance} onChange=${set("min_relevance")} placeholder="the model's floor" />
    <${Field} label="True at" type="date" value=${form.as_of} onChange=${set("as_of")} /><${Field} label="Believed at" type="date" value=${form.known_at} onChange=${set("known_at")} />
  </fieldset>`;
}

function Answer({ answer }) {
  const [raw, setRaw] = useState(false);
  const { context, plan, understood } = answer;
  return html`
    <${Card} title="Context" actions=${html`<span class="muted">${context?.tokens ?? 0} tokens · ${Math.round(answer.took_ms)} ms</span>
      <${Button} onClick=${() => navigator.clipboard?.writeText(context.text)}>Copy<//>`}>
      ${context?.text ? html`<pre class="context" tabindex="0">${context.text}</pre>` : html`<${Empty}>Nothing relevant is stored: an agent gets an empty block.<//>`}
      ${answer.degraded?.length > 0 && html`<p class="muted">Degraded: ${answer.degraded.map((one) => JSON.stringify(one)).join(", ")}</p>`}
    <//>
    <${Card} title="How it was found">
      ${plan && html`<p><strong>${words(plan.name)}</strong>: ${plan.why}</p>`}
      ${understood && html`<p class="muted small">Understood: ${[
        understood.entities?.length && `entities ${understood.entities.map((one) => one.name ?? one.text).join(", ")}`,
        understood.predicates?.length && `predicates ${understood.predicates.join(", ")}`,
        understood.types?.length && `types ${understood.types.join(", ")}`, understood.windows?.length && "a time window", `specificity ${understood.specificity}`,
      ].filter(Boolean).join("; ")}</p>`}
      <${Hits} hits=${answer.memories ?? []} />
      <${Button} aria-expanded=${raw} onClick=${() => setRaw(!raw)}>Plan and reading as data<//>
      ${raw && html`<${Json} value=${{ plan, understood }} />`}
    <//>`;
}

function Hits({ hits }) {
  if (!hits.length) return null;
  const arms = [...new Set(hits.flatMap((hit) => (hit.arms ?? []).map((one) => one.arm)))];
  const most = Math.max(...hits.map((hit) => total(hit)), 0.0001);
  return html`<div class="legend">${arms.map((arm, place) => html`<span class="key"><i class="dot plot-${(place % 5) + 1}"></i>${words(arm)}</span>`)}</div>
    <div class="scroll" tabindex="0" role="region" aria-label="Scores"><table class="records"><thead><tr><th>Memory</th><th>Arms</th><th class="number">Retrieval</th><th>Confidence</th><th>Freshness</th><th class="number">Score</th></tr></thead>
    <tbody>${hits.map((hit) => html`<tr><td data-title="Memory"><${MemoryLink} id=${hit.memory.id}>${hit.memory.content}<//> <${Badge} text=${hit.memory.type} tone="plain" />
        ${hit.relevance !== undefined && html`<span class="muted small"> relevance ${fraction(hit.relevance)}</span>`}
        ${hit.notes?.length > 0 && html`<div class="small muted">${hit.notes.join("; ")}</div>`}</td>
      <td data-title="Arms"><span class="arms" role="img" aria-label=${(hit.arms ?? []).map((one) => `${words(one.arm)} rank ${one.rank}`).join(", ")}>${(hit.arms ?? []).map((one) => html`
        <span class=${`plot-${(arms.indexOf(one.arm) % 5) + 1}`} title=${`${words(one.arm)}: rank ${one.rank}, adds ${fraction(one.contribution)}`} style=${`width:${(100 * Math.max(0, one.contribution ?? 0)) / most}%`}></span>`)}</span></td>
      <td class="number" data-title="Retrieval">${fraction(hit.retrieval)}</td><td data-title="Confidence"><${Meter} value=${hit.confidence} label="confidence" /></td><td data-title="Freshness"><${Meter} value=${hit.freshness} label="freshness" tone="fresh" /></td>
      <td class="number" data-title="Score"><strong>${Number(hit.score).toFixed(3)}</strong></td></tr>`)}</tbody></table></div>`;
}

const total = (hit) => (hit.arms ?? []).reduce((added, one) => added + Math.max(0, one.contribution ?? 0), 0);
