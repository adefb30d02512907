"""Settles which build of PyTorch a run takes, before anything is resolved.

It applies to profiles that name their builds: what a requirements file asks for is its author's to say.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amlwizard.core.catalogue import Phrase
from amlwizard.core.choices import UvMethod
from amlwizard.core.host import host_facts
from amlwizard.core.torch_builds import KEPT, MPS, TorchChoice, build_name, fitting_build, offered_builds, too_new_for
from amlwizard.core.uv_cli import AUTO
from amlwizard.core.wish import holds_profile, is_in_own_lock, profile_with_builds, recorded_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import GraphicsCard, Host
    from amlwizard.core.profiles import Profile
    from amlwizard.core.session import Session


async def settle_torch(session: Session) -> None:
    """Let the choices of a session name the build of PyTorch; what a workspace has of a profile, it keeps unless told."""
    recorded = await asyncio.to_thread(recorded_source, session.workspace)
    profile = profile_with_builds(session.choices, recorded)
    if profile is None:
        return
    session.torch = choose_torch(session.choices, profile, recorded, host_facts(), await session.look_for_graphics())
    session.choices = replace(session.choices, accelerator=session.torch.accelerator)


def choose_torch(
    choices: Choices, profile: Profile, recorded: Mapping[str, Any], host: Host, cards: Sequence[GraphicsCard]
) -> TorchChoice:
    """Return what is taken: what was chosen, what the workspace has of this profile, or what fits the computer.

    Nobody is sent to another place for packages than the one that was named: without a network, or with an index of one's
    own, the profile's own lock holds unless another build is chosen.
    """
    own, offered = profile.builds.get(host.platform), offered_builds(host)
    fit = fitting_build(host, cards)
    held = holds_profile(recorded, profile)
    another = recorded.get("accelerator") if held else None

    def taken(build: str, why: Phrase) -> TorchChoice:
        """Take a build out of the profile's own lock where it is there, unless the workspace has another one."""
        own_lock = is_in_own_lock(build, profile, recorded, host)
        return TorchChoice(build, None if own_lock or build == MPS else build, why, fit.build, offered, own)

    chosen = choices.accelerator
    if chosen is not None and chosen != AUTO:
        why = too_new_for(chosen, host, cards)
        return taken(chosen, why or Phrase("torch.chosen", {"build": build_name(chosen)}))
    if held and chosen is None:
        build = another or own or fit.build
        return TorchChoice(build, another, Phrase(KEPT, {"build": build_name(build)}), fit.build, offered, own)
    bound = choices.offline or choices.index_url is not None or choices.uv_method is UvMethod.NONE
    if bound and chosen is None and own is not None and own != fit.build:
        why = Phrase("torch.bound", {"build": build_name(own), "fitting": build_name(fit.build)})
        return taken(own, why)
    return taken(fit.build, fit.why)
