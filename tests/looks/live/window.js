"use strict";
// What is to be seen is asked for again and again; only what has changed is exchanged, so that nothing half filled in is lost.
const at = { user: "U0001", channel: "C0001", thread: "", home: false };
const shown = { modal: "", home: "", places: "" };
const $ = (id) => document.getElementById(id);

async function look() {
  const asked = new URLSearchParams({ user: at.user, channel: at.channel, thread: at.thread });
  const there = await (await fetch("/seen?" + asked)).json();
  exchange("places", there.places);
  exchange("home", there.home);
  list($("channel"), there.channel);
  list($("thread"), there.thread);
  overlay(there.modal);
  $("working").innerHTML = there.working
    ? '<span>gwt is working …</span><button class="button" type="button" data-native-stop="yes">Stop</button>' : "";
  const place = document.querySelector(`[data-place="${at.channel}"]`);
  $("where").textContent = at.home ? "gwt: Home" : place ? place.textContent : "";
  $("home").hidden = !at.home;
  $("channel").hidden = at.home;
  window.seenOnce = true;
}

function exchange(id, html) {
  if (shown[id] !== html) { shown[id] = html; $(id).innerHTML = html; }
}

function list(pane, pieces) {
  const below = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 60;
  const wanted = new Set(pieces.map((one) => one.key));
  for (const old of [...pane.children]) if (!wanted.has(old.dataset.piece)) old.remove();
  let before = null;
  for (const piece of pieces) {
    let there = pane.querySelector(`[data-piece="${CSS.escape(piece.key)}"]`);
    if (!there) { there = document.createElement("div"); there.dataset.piece = piece.key; }
    if (there.html !== piece.html) { there.html = piece.html; there.innerHTML = piece.html; }
    const next = before ? before.nextSibling : pane.firstChild;
    if (there !== next) pane.insertBefore(there, next);
    before = there;
  }
  if (below) pane.scrollTop = pane.scrollHeight;
}

function overlay(form) {
  if ($("over").dataset.confirming) return;
  const html = form ? form.html : "";
  if (shown.modal !== html + (form ? form.id : "")) {
    shown.modal = html + (form ? form.id : "");
    $("over").innerHTML = html;
    $("over").dataset.view = form ? form.id : "";
    $("over").classList.toggle("shown", Boolean(form));
  }
  for (const box of document.querySelectorAll("#over [data-error]"))
    box.textContent = (form && form.errors[box.dataset.error]) || "";
}

async function act(what) {
  const sent = { user: at.user, channel: at.channel, ...what };
  const answer = await fetch("/do", { method: "POST", body: JSON.stringify(sent) });
  const told = await answer.json();
  if (told.problem) toast(told.problem);
  await look();
}

function toast(words) {
  $("toast").textContent = words;
  $("toast").style.display = "block";
  setTimeout(() => ($("toast").style.display = "none"), 4000);
}

function whereIs(element) {
  if (element.closest("#home")) return "home";
  if (element.closest("#over")) return $("over").dataset.view;
  return element.closest("[data-piece]").dataset.piece;
}

function confirmed(told, then) {
  const make = (kind, text, parent, className) => {
    const one = document.createElement(kind);
    one.textContent = text; one.className = className || ""; parent.append(one);
    return one;
  };
  const over = $("over");
  over.dataset.confirming = "yes";
  over.innerHTML = '<div class="modal"><div class="modal-head"></div><div class="modal-body"></div><div class="modal-foot"></div></div>';
  make("h2", told.title, over.querySelector(".modal-head"));
  make("div", told.text, over.querySelector(".modal-body"));
  const foot = over.querySelector(".modal-foot");
  const end = () => { delete over.dataset.confirming; over.classList.remove("shown"); shown.modal = ""; over.innerHTML = ""; };
  make("button", told.deny, foot, "button").onclick = (event) => { event.stopPropagation(); end(); };
  make("button", told.confirm, foot, "button " + (told.style || "primary")).onclick = (event) => { event.stopPropagation(); end(); then(); };
  over.classList.add("shown");
}

function filledIn() {
  const values = {};
  for (const one of document.querySelectorAll("#over [data-action]")) {
    const block = one.dataset.block;
    if (one.tagName === "BUTTON") continue;
    if (one.type === "checkbox") { values[block] = values[block] || []; if (one.checked) values[block].push(one.value); }
    else if (one.type === "radio") { if (one.checked) values[block] = one.value; }
    else values[block] = one.value;
  }
  return values;
}

document.addEventListener("click", (event) => {
  const on = event.target.closest("button");
  if (!on) return;
  if (on.id === "to-home") { at.home = true; act({ do: "home" }); }
  else if (on.id === "theme") { document.body.classList.toggle("dark"); document.body.classList.toggle("light"); }
  else if (on.dataset.place) { at.channel = on.dataset.place; at.thread = ""; at.home = false; look(); }
  else if (on.dataset.thread) { at.thread = on.dataset.thread; look(); }
  else if (on.dataset.nativeStop) act({ do: "stop", thread: at.thread });
  else if (on.dataset.submit) act({ do: "submit", where: $("over").dataset.view, values: filledIn() });
  else if (on.dataset.close) act({ do: "close", where: $("over").dataset.view });
  else if (on.classList.contains("more")) { on.previousSibling.classList.remove("cut"); on.remove(); }
  else if (on.dataset.action) {
    const press = { do: "press", where: whereIs(on), block: on.dataset.block, action: on.dataset.action, thread: at.thread };
    if (on.dataset.confirm) confirmed(JSON.parse(on.dataset.confirm), () => act(press));
    else act(press);
  }
});

document.addEventListener("change", (event) => {
  const one = event.target;
  if (one.id === "who") { at.user = one.value; at.thread = ""; look(); return; }
  if (!one.dataset.action || one.closest("#over") || one.tagName !== "SELECT" || !one.value) return;
  act({ do: "choose", where: whereIs(one), block: one.dataset.block, action: one.dataset.action, value: one.value });
});

for (const id of ["say", "reply"])
  $(id).addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    const text = $(id).value;
    $(id).value = "";
    if (id === "say") act({ do: "say", text });
    else if (at.thread) act({ do: "say", text, thread: at.thread });
    else toast("Open a thread first.");
  });

(async function keepLooking() {
  for (;;) {
    try { await look(); } catch { /* the program is gone, or comes back */ }
    await new Promise((go) => setTimeout(go, 400));
  }
})();
