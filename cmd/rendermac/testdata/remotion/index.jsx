// Compositions that end badly, each in its own way; one that talks, and one that is long.
import {AbsoluteFill, Composition, delayRender, registerRoot, useCurrentFrame} from 'remotion';

const Throws = () => {
	const frame = useCurrentFrame();
	if (frame === 5) {
		throw new Error('the data has no row 5');
	}
	return <AbsoluteFill style={{backgroundColor: 'teal'}} />;
};

const NeverSettles = () => {
	delayRender('the fonts of the studio');
	return null;
};

const Spins = () => {
	if (useCurrentFrame() === 3) {
		for (;;);
	}
	return <AbsoluteFill />;
};

const Talks = () => {
	console.log('Rendered 1000/1000');
	console.error('Encoded 1/2');
	return <AbsoluteFill style={{backgroundColor: 'orange'}} />;
};

const Long = () => <AbsoluteFill style={{backgroundColor: `hsl(${useCurrentFrame() % 360}, 60%, 40%)`}} />;

const all = {Throws, NeverSettles, Spins, Talks, Long};

registerRoot(() => (
	<>
		{Object.entries(all).map(([id, component]) => (
			<Composition key={id} id={id} component={component} durationInFrames={id === 'Long' ? 100000 : 30} fps={30} width={321} height={181} />
		))}
	</>
));
