"""Who can be asked about a recorded compaction, and what that would cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from compaction_app.chosen import choices
from compaction_app.engine.compaction.requests import OUTPUT_SHARE
from compaction_app.engine.lines import lines_of
from compaction_app.engine.retention.cycles import Cycle
from compaction_app.models import ModelConnection
from compaction_app.runs import situation_of
from compaction_app.summarisers.chat import PER_TOKENS
from sessions_app.models import Session


@dataclass(frozen=True, slots=True)
class Offer:
    """A summariser that can be asked; ``cost`` is the most it can cost in US dollars, none where unknown."""

    name: str
    needs_model: bool
    prompt_tokens: int
    output_tokens: int
    cost: Decimal | None


def offers(session: Session, cycle: Cycle) -> list[Offer]:
    """The summarisers of the team, each with what the compaction made again would cost."""
    situation = situation_of(session)
    reserve = lines_of(situation.policy, situation.around).settings.reserve_tokens
    prompt = cycle.retention.removed_tokens
    models = {one.name: one for one in ModelConnection.objects.filter(team=session.team_id)}
    found = []
    for name in choices(session.team):
        model = models.get(name)
        most = int(OUTPUT_SHARE * reserve)
        output = min(most, model.max_output or most) if model else 0
        found.append(Offer(name, model is not None, prompt, output, cost_of(model, prompt, output)))
    return found


def cost_of(model: ModelConnection | None, prompt: int, output: int) -> Decimal | None:
    """US dollars for so many tokens, 0 without a model, none where a price is unknown."""
    if model is None:
        return Decimal(0)
    if model.input_price is None or model.output_price is None:
        return None
    return (prompt * model.input_price + output * model.output_price) / PER_TOKENS
